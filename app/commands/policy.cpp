#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands/command_line.h"
#include "app/run/recorded_decisions.h"
#include "app/show/standard_output.h"
#include "app/show/words.h"
#include "core/base/error.h"
#include "core/base/patient_io.h"
#include "core/json/flow_yaml.h"
#include "core/record/events.h"
#include "core/record/transcript_reader.h"
#include "core/text/text.h"
#include "policies/engine/engine.h"
#include "policies/engine/explain.h"
#include "policies/environment/command_path.h"
#include "policies/file/policy_loader.h"
#include "policies/file/policy_warnings.h"
#include "policies/file/rule_examples.h"
#include "policies/review/learn.h"
#include "policies/review/rule_line.h"
#include "policies/rules/policy.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

std::vector<RecordedRun> read_recorded_runs(const std::vector<std::string>& paths) {
  std::vector<RecordedRun> runs;
  for (const std::string& path : paths) runs.push_back(read_recorded_run(path));
  return runs;
}

constexpr std::size_t kReadBytes = 256u << 10;
constexpr std::size_t kHeldBytes = 64u << 10;
constexpr std::chrono::hours kLongestPause{1};
/// No command is longer (execve(2)); a line beyond it is denied without being kept.
constexpr std::size_t kMaxLine = 8u << 20;

bool input_waits() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 0) == 1;
}

/// Waits for the next command, with a limit.
void wait_for_input() {
  const auto last = std::chrono::steady_clock::now() + kLongestPause;
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(last - std::chrono::steady_clock::now());
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (left.count() > 0 && ::poll(&input, 1, static_cast<int>(left.count())) != 0) {
      if (input.revents != 0 || errno != EINTR) return;
      continue;
    }
    throw InputError("stdin: no line for an hour, and its end was not reached");
  }
}

/// Reads lines and answers them.
class Batch {
 public:
  explicit Batch(const CommandCheck& check) : check_(check), buffer_(kReadBytes, '\0') {}

  ExitCode run() {
    for (;;) {
      wait_for_input();
      const ssize_t size = ::read(STDIN_FILENO, buffer_.data(), buffer_.size());
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) throw Error("stdin: " + errno_text(errno), ExitCode::environment);
      if (size == 0) break;
      take(std::string_view(buffer_).substr(0, static_cast<std::size_t>(size)));
      if ((answers_.size() >= kHeldBytes || !input_waits()) && !flush()) return ExitCode::success;
    }
    if (!line_.empty() || too_long_) answer();
    flush();
    return ExitCode::success;
  }

 private:
  void take(std::string_view bytes) {
    for (std::size_t begin = 0; begin < bytes.size();) {
      const std::size_t end = bytes.find('\n', begin);
      const std::string_view part = bytes.substr(begin, end - begin);
      if (line_.size() + part.size() > kMaxLine) too_long_ = true;
      if (too_long_)
        line_.clear();
      else
        line_ += part;
      if (end == std::string_view::npos) return;
      answer();
      begin = end + 1;
    }
  }

  void answer() {
    answers_ += !too_long_ && check_.allows_line(line_) ? "allow\n" : "deny\n";
    line_.clear();
    too_long_ = false;
  }

  /// False if the reader has gone.
  bool flush() {
    if (answers_.empty()) return true;
    if (const int number = write_within(STDOUT_FILENO, answers_); number != 0) {
      if (number == EPIPE) return false;
      throw stdout_error(number);
    }
    answers_.clear();
    return true;
  }

  const CommandCheck& check_;
  std::string buffer_;
  std::string line_;
  bool too_long_ = false;
  std::string answers_;
};

/// `policy check --batch`: reads a JSON argv per line of stdin, and answers each with exactly one
/// line, `allow` or `deny`. Answers are buffered while there is more input, and written before it
/// waits for more. If the reader has gone, it ends silently.
ExitCode check_batch(const Policy& policy) {
  const CommandCheck check(policy, policy.approval, std::filesystem::current_path());
  return Batch(check).run();
}

struct BacktestOptions {
  std::string policy;
  std::vector<std::string> runs;
};

/// Exit codes: 0 if nothing that was allowed would be denied, else 1.
ExitCode run_backtest(const BacktestOptions& options) {
  const Policy policy = load_policy(options.policy);
  const std::vector<RecordedRun> runs = read_recorded_runs(options.runs);
  const Backtest result = backtest(policy, runs);
  print_out(result.text());
  return result.newly_denied == 0 ? ExitCode::success : ExitCode::task_failed;
}

void add_policy_backtest(CommandTable& table, CLI::App& policy) {
  auto options = std::make_shared<BacktestOptions>();
  CLI::App& app = add_command(
      table, policy, "backtest",
      "Show what a policy would have decided in these runs; 1 if it denies what was allowed.",
      "sortie policy backtest policy.yaml sortie-out",
      [options] { return run_backtest(*options); });
  app.add_option("POLICY", options->policy, "policy file or preset")->required();
  add_words(app, "RUN", options->runs, "output folders of runs").type_name("TEXT")->required();
}

void add_policy_learn(CommandTable& table, CLI::App& policy) {
  auto runs = std::make_shared<std::vector<std::string>>();
  CLI::App& app =
      add_command(table, policy, "learn",
                  "Print the smallest allow rules that these runs would have needed beyond strict.",
                  "sortie policy learn sortie-out > learned.yaml", [runs] {
                    const std::string text = learned_policy(read_recorded_runs(*runs));
                    print_document(text);
                    return ExitCode::success;
                  });
  add_words(app, "RUN", *runs, "output folders of runs, best of the approval mode audit")
      .type_name("TEXT")
      ->required();
}

struct CheckOptions {
  std::string policy;
  std::vector<std::string> command;
  bool batch = false;
};

ExitCode check_policy(const std::string& name, const Policy& policy) {
  print_out(name + ": valid, " + policy_digest(policy) + "\n");
  const Environment own = own_environment();
  const char* home = std::getenv("HOME");
  const PolicySurroundings surroundings{.path = [&] { return find_command_path(own, {}).folders; },
                                        .home = home == nullptr ? "" : home};
  for (const auto& warning : policy_warnings(policy, surroundings))
    print_error(warning_text(policy, warning) + "\n");
  return ExitCode::success;
}

/// A single word with blanks is most likely a quoted command line.
bool looks_like_a_line(const std::vector<std::string>& argv) {
  return argv.size() == 1 && argv[0].find_first_of(" \t\n|;&<>") != std::string::npos;
}

/// "  to allow it: into policy.yaml: commands: [{allow: [make]}]"; "" if no line could.
std::string allowing_text(const std::string& name, const Policy& policy, const Json& lines) {
  if (!lines.is_object()) return "";
  std::string yaml = flow_yaml_lines(lines);
  std::replace(yaml.begin(), yaml.end(), '\n', ';');
  const std::string place = policy.file.empty()
                                ? "a policy file with 'version: 1' and 'extends: " + name + "'"
                                : one_line(name, 200);
  return "  to allow it: put into " + place + ": " + one_line(yaml, 600) + "\n";
}

/// Exit codes: 0 allow, 3 deny or forbid.
ExitCode check_one(const std::string& name, const Policy& policy,
                   const std::vector<std::string>& argv) {
  const CommandCheck check(policy, policy.approval, std::filesystem::current_path());
  const Decision decision = check.decide(argv);
  const bool allowed = decision.effect == Effect::allow;
  std::string text = decision_text(decision);
  if (!allowed && looks_like_a_line(argv))
    text += "  hint: this is a command of one word; for a shell line: -- bash -c '…'\n";
  else if (decision.effect == Effect::deny && decision.unmatched)
    text += allowing_text(name, policy, lines_that_allow({check.command(argv)}, check.engine()));
  print_out(text);
  return allowed ? ExitCode::success : ExitCode::denied;
}

ExitCode run_check(const CheckOptions& options) {
  const Policy policy = load_policy(options.policy);
  if (options.batch && !options.command.empty())
    throw InputError("--batch reads its commands from stdin; leave out the one after --");
  if (options.batch) return check_batch(policy);
  if (!options.command.empty()) return check_one(options.policy, policy, options.command);
  return check_policy(options.policy, policy);
}

/// Prints the result of each rule's examples. Exit codes: 0, or 2 if one fails, since the policy is
/// invalid then.
ExitCode run_test(const std::string& name) {
  const Policy policy = load_policy(name, Examples::kept);
  std::string text;
  std::size_t failed = 0;
  const auto results = check_examples(policy);
  for (const auto& result : results) {
    if (!result.problem.empty()) ++failed;
    text += result_text(result) + "\n";
  }
  text +=
      std::to_string(results.size() - failed) + " passed, " + std::to_string(failed) + " failed\n";
  print_out(text);
  return failed == 0 ? ExitCode::success : ExitCode::usage;
}

}  // namespace

void add_policy(CommandTable& table) {
  CLI::App* policy =
      table.root.add_subcommand("policy", "Check, test and learn policies, and decide commands.");
  policy->footer("Example:\n  sortie policy check strict -- git status");
  policy->require_subcommand(1);
  auto options = std::make_shared<CheckOptions>();
  CLI::App& check = add_command(
      table, *policy, "check", "Validate a policy; with a command: decide on it and name the rule.",
      "sortie policy check strict -- git status", [options] { return run_check(*options); });
  check.add_option("POLICY", options->policy, "policy file or preset")->required();
  add_words(check, "COMMAND", options->command, "after --: the command to decide");
  check.add_flag("--batch", options->batch, "decide on JSON argvs from stdin, one per line");
  check.positionals_at_end(false);
  add_policy_learn(table, *policy);
  add_policy_backtest(table, *policy);

  auto name = std::make_shared<std::string>();
  CLI::App& test = add_command(
      table, *policy, "test", "Run the examples of every rule, those of extended policies too.",
      "sortie policy test policy.yaml", [name] { return run_test(*name); });
  test.add_option("POLICY", *name, "policy file or preset")->required();
}

}  // namespace sortie
