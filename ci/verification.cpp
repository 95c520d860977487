#include "ci/verification.h"

#include <algorithm>
#include <utility>

#include "ci/test_output/read_results.h"
#include "core/process/process.h"
#include "core/text/terminal_text.h"

namespace sortie {
namespace {

using std::chrono::milliseconds;

/// Keeps head and tail of a command's output, as plain text without secrets.
class Collector : public OutputTaker {
 public:
  explicit Collector(const VerificationOptions& options)
      : redactor_(options.redactor ? *options.redactor : nothing_, Audience::tools),
        kept_(options.shown_bytes, options.shown_bytes) {}
  void feed(std::string_view bytes) override { kept_.feed(redactor_.feed(text_.feed(bytes))); }
  CollectedOutput finish() override {
    kept_.feed(redactor_.feed(text_.finish()));
    kept_.feed(redactor_.finish());
    return kept_.finish();
  }

 private:
  Redactor nothing_;
  TerminalText text_;
  StreamRedactor redactor_;
  OutputBuffer kept_;
};

Command command_for(const VerifyCommand& verify, const Budget& budget,
                    const VerificationOptions& options) {
  Command command;
  command.argv = verify.argv;
  command.workdir = options.workdir;
  command.environment = options.environment;
  command.timeout = std::min(verify.timeout, budget.time_left());
  command.max_output_bytes = options.max_output_bytes;
  return command;
}

/// Output beyond this is not searched for tests: their results count as incomplete.
constexpr std::size_t kMostTestOutput = 16u << 20;
/// Shells report a command that can't be run, or was ended by a signal, from here on (POSIX, XCU 2.8.2).
constexpr int kNotRun = 126;

TestResults results_in(const std::string& output) {
  if (output.size() > kMostTestOutput)
    return {.kind = TestResults::Kind::incomplete, .problem = "its output is too long"};
  return read_test_results(output);
}

bool ran_to_its_end(const ExitStatus& exit) {
  return exit.ending == Ending::exited && exit.code < kNotRun;
}

/// Decides whether a failed command passes, since it failed on the start state too.
/// @param index  among the commands, without those of the setup
void compare(VerificationOutcome& outcome, std::size_t index, const VerificationOptions& options) {
  if (outcome.passed || outcome.setup || options.baseline == nullptr) return;
  const auto& before = options.baseline->outcomes;
  for (const VerificationOutcome& one : before) index += one.setup ? 1 : 0;
  if (index >= before.size()) return;
  Comparison comparison = compare_failures(before[index], outcome);
  outcome.passed = !comparison.is_new;
  outcome.compared = options.redactor ? options.redactor->text(std::move(comparison.text))
                                      : std::move(comparison.text);
}

enum class Step { setup, command };

VerificationOutcome run_one(Step step, std::size_t index, const VerifyCommand& verify,
                            Launcher& launcher, EventSink& events, const Budget& budget,
                            const VerificationOptions& options, std::stop_token stop) {
  const bool setup = step == Step::setup;
  const VerificationRecord record{options.phase, options.round, verify.text, verify.argv,
                                  setup,         options.tree,  options.diff};
  events.on({options.turn, record});
  VerificationOutcome outcome;
  outcome.setup = setup;
  outcome.command = verify.text;
  const auto output =
      options.take_output ? options.take_output() : std::make_unique<Collector>(options);
  std::string printed;
  outcome.exit = run_command(
      launcher, command_for(verify, budget, options),
      [&](std::string_view bytes) {
        output->feed(bytes);
        if (options.read_tests && printed.size() <= kMostTestOutput) printed += bytes;
      },
      stop);
  CollectedOutput collected = output->finish();
  outcome.output = std::move(collected.shown);
  outcome.dropped_bytes = collected.left_out_bytes;
  outcome.passed = outcome.exit.success();
  if (options.read_tests && !setup) outcome.tests = results_in(printed);
  compare(outcome, index, options);
  VerificationCompleted completed{record, outcome.exit, std::move(collected.recorded)};
  if (completed.output != outcome.output) completed.shown = outcome.output;
  completed.dropped_bytes = outcome.dropped_bytes;
  completed.passed = outcome.passed;
  completed.compared = outcome.compared;
  outcome.whole = std::move(collected.whole);
  if (collected.recorded_cut && !outcome.whole.empty() && options.find_whole)
    completed.whole = options.find_whole(outcome.whole);
  events.on({options.turn, std::move(completed)});
  return outcome;
}

std::string seconds_text(milliseconds duration) {
  const auto tenths = duration.count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

/// "ended with exit code 1", worded for the agent.
std::string how_it_ended(const ExitStatus& exit) {
  const std::string detail = exit.detail.empty() ? "" : " (" + exit.detail + ")";
  switch (exit.ending) {
    case Ending::exited:
      return "ended with exit code " + std::to_string(exit.code);
    case Ending::signalled:
      return "was ended by signal " + std::to_string(exit.code) + detail;
    case Ending::timed_out:
      return "was killed at its time limit, after " + seconds_text(exit.duration) + detail;
    case Ending::not_started:
      return "could not be started" + detail;
    case Ending::cancelled:
      return "was stopped" + detail;
    default:
      return std::string("was killed: ") + name_of(exit.ending) + detail;
  }
}

}  // namespace

VerificationResult run_verification(const VerificationSteps& steps, Launcher& launcher,
                                    EventSink& events, const Budget& budget,
                                    const VerificationOptions& options, std::stop_token stop) {
  VerificationResult result;
  const std::size_t setups = steps.setup.size();
  for (std::size_t i = 0; i < setups + steps.commands.size(); ++i) {
    if (i > 0 && options.between) options.between();
    const Step step = i < setups ? Step::setup : Step::command;
    const VerifyCommand& command = i < setups ? steps.setup[i] : steps.commands[i - setups];
    if (stop.stop_requested() || budget.time_up()) {
      result.passed = false;
      result.stopped = true;
      return result;
    }
    result.outcomes.push_back(run_one(step, i < setups ? 0 : i - setups, command, launcher, events,
                                      budget, options, stop));
    if (result.outcomes.back().passed) continue;
    result.passed = false;
    // A command killed by the run's deadline or a stop says nothing about the work.
    result.stopped = stop.stop_requested() || budget.time_up().has_value();
    if (result.stopped || step == Step::setup || !options.all_commands) return result;
  }
  return result;
}

VerificationResult recorded_verification(const std::vector<VerificationCompleted>& commands,
                                         bool read_tests) {
  VerificationResult result;
  for (const VerificationCompleted& one : commands) {
    VerificationOutcome outcome{.command = one.command, .exit = one.exit, .passed = one.passed};
    outcome.setup = one.setup;
    outcome.output = one.shown.value_or(one.output);
    outcome.dropped_bytes = one.dropped_bytes;
    outcome.compared = one.compared;
    if (read_tests) outcome.tests = results_in(one.output);
    result.passed = result.passed && one.passed;
    result.outcomes.push_back(std::move(outcome));
  }
  return result;
}

std::string last_whole(const VerificationResult& result) {
  std::string path;
  for (const VerificationOutcome& one : result.outcomes)
    if (!one.whole.empty()) path = one.whole;
  return path;
}

std::string verification_report(const VerificationResult& result) {
  std::string text;
  for (const VerificationOutcome& one : result.outcomes) {
    text += (one.setup ? "Setup: `" : "`") + one.command + "` " + how_it_ended(one.exit) + " (" +
            seconds_text(one.exit.duration) + ").\n";
    if (!one.compared.empty()) text += "Compared with the start state: " + one.compared + ".\n";
    text += one.output.empty() ? "It printed nothing.\n" : "Output:\n" + one.output;
    if (!text.ends_with('\n')) text += "\n";
  }
  if (result.stopped) text += "The run's time was up before the other commands could run.\n";
  return text;
}

std::string verification_feedback(const VerificationResult& result, int round, int rounds) {
  const auto failed = std::find_if(result.outcomes.begin(), result.outcomes.end(),
                                   [](const VerificationOutcome& one) { return !one.passed; });
  if (failed == result.outcomes.end()) return {};
  std::string text = "Verification failed (round " + std::to_string(round) + " of " +
                     std::to_string(rounds) + "): " + (failed->setup ? "its setup " : "") + "`" +
                     failed->command + "` " + how_it_ended(failed->exit) + ".\n";
  if (!failed->compared.empty())
    text += "Compared with the start state: " + failed->compared + ".\n";
  text += failed->output.empty() ? "It printed nothing.\n" : "Output:\n" + failed->output;
  if (!text.ends_with('\n')) text += "\n";
  return text + "Fix the cause, then end with your final message.";
}

Comparison compare_failures(const VerificationOutcome& before, const VerificationOutcome& after) {
  const std::string same_code = std::to_string(before.exit.code);
  if (before.exit.success()) return {.text = "it passed before"};
  if (!ran_to_its_end(before.exit))
    return {.text = "it did not run to its end before, so that it has to pass"};
  if (before.tests.kind == TestResults::Kind::incomplete)
    return {.text = "its tests did not run to their end before (" + before.tests.problem +
                    "), so that it has to pass"};
  if (!ran_to_its_end(after.exit)) return {.text = "it does not run to its end any more"};
  if (after.exit.code != before.exit.code) return {.text = "the exit code was " + same_code};
  if (before.tests.kind == TestResults::Kind::unknown)
    return {.is_new = false,
            .text = "exit code " + same_code + " as before (the output names no tests)"};
  if (std::string found = new_failures(before.tests, after.tests); !found.empty())
    return {.text = std::move(found)};
  return {.is_new = false,
          .text = "no new failures (failing tests: " + std::to_string(after.tests.failures()) +
                  ", before: " + std::to_string(before.tests.failures()) + ")"};
}

StartCheck judge_start(ExpectedStart before, bool passed) {
  if (before == ExpectedStart::fail && passed) return StartCheck::nothing_to_do;
  if (before == ExpectedStart::pass && !passed) return StartCheck::must_pass;
  return StartCheck::go_on;
}

Json to_json(const VerificationResult& result) {
  Json outcomes = Json::array();
  for (const VerificationOutcome& one : result.outcomes) {
    outcomes.push_back(
        Json::object({{"command", one.command},
                      {"ending", name_of(one.exit.ending)},
                      {"exit_code", one.exit.code},
                      {"passed", one.passed},
                      {"duration_ms", static_cast<std::int64_t>(one.exit.duration.count())},
                      {"output", one.output}}));
    if (one.setup) outcomes.items().back().set("setup", true);
    if (!one.compared.empty()) outcomes.items().back().set("compared", one.compared);
  }
  return outcomes;
}

}  // namespace sortie
