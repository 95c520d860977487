#include "ci/verification.h"

#include <algorithm>
#include <utility>

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

VerificationOutcome run_one(const VerifyCommand& verify, Launcher& launcher, EventSink& events,
                            const Budget& budget, const VerificationOptions& options,
                            std::stop_token stop) {
  const VerificationRecord record{options.phase, options.round, verify.text, verify.argv};
  events.on({options.turn, record});
  VerificationOutcome outcome;
  outcome.command = verify.text;
  const auto output =
      options.take_output ? options.take_output() : std::make_unique<Collector>(options);
  outcome.exit = run_command(
      launcher, command_for(verify, budget, options),
      [&](std::string_view bytes) { output->feed(bytes); }, stop);
  CollectedOutput collected = output->finish();
  outcome.output = std::move(collected.shown);
  outcome.dropped_bytes = collected.left_out_bytes;
  outcome.passed = outcome.exit.success();
  VerificationCompleted completed{record, outcome.exit, std::move(collected.recorded)};
  if (completed.output != outcome.output) completed.shown = outcome.output;
  completed.dropped_bytes = outcome.dropped_bytes;
  completed.passed = outcome.passed;
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

VerificationResult run_verification(const std::vector<VerifyCommand>& commands, Launcher& launcher,
                                    EventSink& events, const Budget& budget,
                                    const VerificationOptions& options, std::stop_token stop) {
  VerificationResult result;
  for (const VerifyCommand& command : commands) {
    if (stop.stop_requested() || budget.time_up()) {
      result.passed = false;
      result.stopped = true;
      return result;
    }
    result.outcomes.push_back(run_one(command, launcher, events, budget, options, stop));
    if (result.outcomes.back().passed) continue;
    result.passed = false;
    // A command killed by the run's deadline or a stop says nothing about the work.
    result.stopped = stop.stop_requested() || budget.time_up().has_value();
    return result;
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
    text += "`" + one.command + "` " + how_it_ended(one.exit) + " (" +
            seconds_text(one.exit.duration) + ").\n";
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
                     std::to_string(rounds) + "): `" + failed->command + "` " +
                     how_it_ended(failed->exit) + ".\n";
  text += failed->output.empty() ? "It printed nothing.\n" : "Output:\n" + failed->output;
  if (!text.ends_with('\n')) text += "\n";
  return text + "Fix the cause, then end with your final message.";
}

StartCheck judge_start(ExpectedStart before, bool passed) {
  if (before == ExpectedStart::fail && passed) return StartCheck::nothing_to_do;
  if (before == ExpectedStart::pass && !passed) return StartCheck::must_pass;
  return StartCheck::go_on;
}

ExpectedChanges expected_changes(ExpectedChanges expected, bool read_only_sandbox,
                                 bool has_output_schema) {
  if (expected != ExpectedChanges::automatic) return expected;
  if (read_only_sandbox) return ExpectedChanges::forbidden;
  return has_output_schema ? ExpectedChanges::any : ExpectedChanges::required;
}

std::string judge_changes(ExpectedChanges expected, bool has_changes) {
  if (expected == ExpectedChanges::forbidden && has_changes)
    return "The task expects no changed files (expect.changes), but files were changed.";
  if (expected == ExpectedChanges::required && !has_changes)
    return "The task expects changed files (expect.changes), but no file was changed.";
  return {};
}

Json to_json(const VerificationResult& result) {
  Json outcomes = Json::array();
  for (const VerificationOutcome& one : result.outcomes)
    outcomes.push_back(
        Json::object({{"command", one.command},
                      {"ending", name_of(one.exit.ending)},
                      {"exit_code", one.exit.code},
                      {"passed", one.passed},
                      {"duration_ms", static_cast<std::int64_t>(one.exit.duration.count())},
                      {"output", one.output}}));
  return outcomes;
}

}  // namespace sortie
