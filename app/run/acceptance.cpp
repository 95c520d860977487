#include "app/run/acceptance.h"

#include <algorithm>
#include <atomic>

#include "app/artifacts/diff_verdict.h"
#include "app/artifacts/leaks.h"
#include "app/run/run_ends.h"
#include "ci/expectations.h"
#include "core/files/file_name.h"
#include "core/text/text.h"
#include "core/workspace/tree.h"
#include "policies/engine/engine.h"
#include "tools/commands/command_output.h"

namespace sortie {
namespace {

/// Unique, since two may run at once if the model asks for the tests twice in one turn.
std::string next_name() {
  static std::atomic<int> count = 0;
  return "verification " + std::to_string(++count);
}

/// Starts the commands of one verification. They don't see what the agent's commands left outside
/// the workspace: they share a private set that is empty at first and removed at the end.
class VerificationLauncher : public Launcher {
 public:
  /// @param host  outlives it
  explicit VerificationLauncher(CommandHost& host);
  VerificationLauncher(const VerificationLauncher&) = delete;
  VerificationLauncher& operator=(const VerificationLauncher&) = delete;
  ~VerificationLauncher() override { host_.drop_private_set(name_); }

  std::unique_ptr<RunningCommand> start(const Command& command) override;
  std::chrono::milliseconds time_left() const override { return host_.launcher().time_left(); }

 private:
  CommandHost& host_;
  std::string name_;
};

VerificationLauncher::VerificationLauncher(CommandHost& host) : host_(host), name_(next_name()) {}

std::unique_ptr<RunningCommand> VerificationLauncher::start(const Command& command) {
  Command own = command;
  own.private_set = name_;
  return host_.launcher().start(own);
}

/// Collects output like that of any other command.
class VerificationOutput : public OutputTaker {
 public:
  VerificationOutput(const Redactor& redactor, std::size_t shown_bytes, SavedOutputs* whole)
      : output_(redactor, shown_bytes, whole) {}
  void feed(std::string_view bytes) override { output_.feed(bytes); }
  CollectedOutput finish() override { return output_.finish(); }

 private:
  CommandOutput output_;
};

}  // namespace

VerificationOptions Acceptance::verification_options(VerificationPhase phase, int round) const {
  VerificationOptions options;
  options.workdir = parts_.host.workspace();
  options.environment = parts_.host.environment();
  options.phase = phase;
  options.round = round;
  options.turn = parts_.record.turn();
  if (parts_.inputs.task.verify.baseline == VerifyBaseline::no_new_failures) {
    options.read_tests = true;
    options.all_commands = phase == VerificationPhase::before;
    if (parts_.result.verification_before && phase != VerificationPhase::before)
      options.baseline = &*parts_.result.verification_before;
  }
  options.shown_bytes = parts_.inputs.task.context.shown_output;
  options.max_output_bytes = parts_.inputs.policy.limits.output;
  options.redactor = &parts_.redactor;
  options.take_output = [this] {
    return std::make_unique<VerificationOutput>(
        parts_.redactor, parts_.inputs.task.context.shown_output, &parts_.outputs);
  };
  options.find_whole = [this](const std::string& path) { return parts_.outputs.find(path); };
  return options;
}

/// Why the rules refuse a verification command in the current tree, or "".
std::string Acceptance::verification_refusal() const {
  if (!parts_.inputs.policy.verify_by_rules) return "";
  for (const VerifyCommand& command : parts_.inputs.task.verify.commands) {
    const Decision decision = parts_.host.engine().decide(
        RunCommand{.argv = command.argv, .workdir = parts_.host.workspace()});
    if (decision.effect != Effect::allow)
      return "the verification command '" + one_line(command.text, 80) +
             "' may not run: " + decision.reason + " (bounds.verify is rules)";
  }
  return "";
}

/// For a call of the model. The tool runner checks the protected paths afterwards.
RunTests::Outcome Acceptance::run_tests(std::stop_token stop) {
  if (std::string problem = verification_refusal(); !problem.empty())
    return {.passed = false, .text = std::move(problem)};
  VerificationLauncher launcher(parts_.host);
  const VerificationResult result = run_verification(
      parts_.inputs.task.verify.commands, launcher, parts_.record.events(), parts_.budget,
      verification_options(VerificationPhase::run_tests, parts_.result.verification_rounds + 1),
      stop);
  RunTests::Outcome outcome{result.passed, verification_report(result), {}, last_whole(result)};
  if (!result.outcomes.empty()) outcome.exit = result.outcomes.back().exit;
  return outcome;
}

/// Ends the agent's processes, so that none runs while its work is checked.
void Acceptance::end_background(Background* agent) {
  const int ended = agent != nullptr ? agent->end_background() : 0;
  parts_.tree.names().undo_made();
  if (ended > 0) parts_.tree.names().check_unchanged("a command");
}

VerificationResult Acceptance::verify_once(VerificationPhase phase, int round, Background* agent) {
  end_background(agent);
  if (const std::string problem = verification_refusal(); !problem.empty())
    throw RunEnds{ExitCode::task_failed, problem};
  const VerificationOptions options = verification_options(phase, round);
  VerificationLauncher launcher(parts_.host);
  auto result =
      run_verification(parts_.inputs.task.verify.commands, launcher, parts_.record.events(),
                       parts_.budget, options, parts_.signals.token());
  parts_.tree.names().undo_made();
  parts_.tree.names().check_unchanged("a verification command");
  end_if_stopped(parts_.signals);
  if (result.stopped) parts_.tree.end_by_time("during verification");
  return result;
}

/// A verification counts only if the tree is the same before and after: its commands run code of the
/// agent, which could write whatever makes them pass. One that merely creates files (a cache, a build
/// product) creates the same ones again, and passes when it is run once more.
VerificationResult Acceptance::verify(VerificationPhase phase, int round, Background* agent) {
  verified_state_.reset();
  end_background(agent);
  ChangedState judged = parts_.tree.state();
  for (bool again = false;; again = true) {
    VerificationResult result = verify_once(phase, round, agent);
    ChangedState left = parts_.tree.state();
    const std::vector<std::string> paths = differing_paths(judged, left);
    for (const std::string& path : paths)
      if (!judged.contains(path)) made_by_verification_.insert(path);
    if (!result.passed) return result;
    if (paths.empty()) {
      verified_state_ = std::move(left);
      return result;
    }
    parts_.result.changed_by_verification = paths;
    if (again) {
      parts_.result.verification = result;
      parts_.result.verified = false;
      throw RunEnds{ExitCode::task_failed,
                    "the verification changes what it checks: " + some_of(paths),
                    "let git ignore what it makes, or name it in verify.may_change"};
    }
    parts_.record.say("the verification changed what it checks (" + some_of(paths, 3) +
                      "): it runs once more");
    judged = std::move(left);
  }
}

void Acceptance::verify_start() {
  const TaskVerify& task = parts_.inputs.task.verify;
  const ExpectedStart before = task.before;
  const bool is_needed =
      before != ExpectedStart::any || task.baseline == VerifyBaseline::no_new_failures;
  if (task.commands.empty() || !is_needed) return;
  RunResult& result = parts_.result;
  result.verification_before = verify(VerificationPhase::before, 1, nullptr);
  switch (judge_start(before, result.verification_before->passed)) {
    case StartCheck::go_on:
      return;
    case StartCheck::nothing_to_do:
      result.nothing_to_do = true;
      throw RunEnds{ExitCode::success, "the verification passes on the start state already"};
    case StartCheck::must_pass:
      throw RunEnds{ExitCode::task_failed,
                    "verify.before is pass, but the start state's verification failed"};
  }
}

std::string Acceptance::evaluate_verification(Background& agent) {
  if (parts_.inputs.task.verify.commands.empty()) return {};
  RunResult& run = parts_.result;
  const int round = ++run.verification_rounds;
  // If this one does not finish, the result of an earlier one must not remain.
  run.verified.reset();
  run.verification.reset();
  run.verification = verify(VerificationPhase::after, round, &agent);
  run.verified = run.verification->passed;
  if (run.verification->passed) {
    warn_of_excused(*run.verification);
    return {};
  }
  count_failure(
      "verification failed after " + std::to_string(round) + (round == 1 ? " round" : " rounds"),
      kFailedVerification);
  return verification_feedback(*run.verification, failed_rounds_,
                               parts_.inputs.task.verify.rounds + 1);
}

/// Says which failures were there before.
void Acceptance::warn_of_excused(const VerificationResult& passed) {
  for (const VerificationOutcome& one : passed.outcomes) {
    if (one.exit.success()) continue;
    const std::string line =
        "`" + one_line(one.command, 80) +
        "` failed as on the start state, which verify.baseline allows: " + one.compared;
    auto& warnings = parts_.result.warnings;
    if (std::find(warnings.begin(), warnings.end(), line) == warnings.end())
      warnings.push_back(line);
  }
}

/// Ends the run if the agent has been told of a failure as often as the task allows.
void Acceptance::count_failure(const std::string& reason, const std::string& kind) {
  const int rounds = parts_.inputs.task.verify.rounds;
  if (++failed_rounds_ > rounds) throw RunEnds{ExitCode::task_failed, reason, "", kind};
  parts_.record.say(
      "round " + std::to_string(failed_rounds_) + " of " + std::to_string(rounds + 1) +
      " has failed: " + (kind == kFailedVerification ? "the output" : in_quotes(reason, 400)) +
      " goes back to the agent");
}

std::string Acceptance::evaluate_stage(Background& agent) {
  std::string feedback = evaluate_verification(agent);
  if (feedback.empty()) verified_tree_ = tree_stamp(parts_.root);
  return feedback;
}

/// Whether nothing was written since the verification of a stage passed.
bool Acceptance::tree_is_as_verified() const {
  return verified_tree_ && verified_tree_ == tree_stamp(parts_.root);
}

void Acceptance::doubt_changed_tree() {
  if (verified_tree_ && !tree_is_as_verified()) parts_.result.verified.reset();
}

std::string Acceptance::evaluate_end(Background& agent) {
  end_background(&agent);
  if (!tree_is_as_verified()) {
    verified_tree_.reset();
    if (std::string feedback = evaluate_verification(agent); !feedback.empty()) return feedback;
  }
  parts_.tree.make_diff();
  check_still_verified();
  return evaluate_diff();
}

/// A running program, such as an MCP server, could write between the verification and the diff.
void Acceptance::check_still_verified() {
  if (!verified_state_) return;
  const std::vector<std::string> paths = differing_paths(*verified_state_, parts_.tree.state());
  if (paths.empty()) return;
  parts_.result.verified.reset();
  throw RunEnds{ExitCode::task_failed,
                "changed after its verification, by no call of the agent: " + some_of(paths)};
}

std::string Acceptance::evaluate_diff() {
  const Diff& diff = *parts_.tree.diff();
  if (!diff.conflicts.empty())
    throw RunEnds{ExitCode::conflict,
                  "changed in the workspace too since the start: " + some_of(diff.conflicts)};
  std::string feedback = undiffable_changes(diff);
  if (!feedback.empty()) {
    count_failure(feedback);
    return feedback +
           " Take them back, or make them in another way, then end with your final message.";
  }
  const Task& task = parts_.inputs.task;
  feedback =
      judge_changes(expected_changes(task.expect.changes, nothing_may_be_written(parts_.inputs),
                                     task.output.schema.has_value()),
                    !diff.text.empty());
  const std::string kind = !feedback.empty() && diff.text.empty() ? kNoChanges : "";
  if (feedback.empty()) feedback = judge_diff(task.expect.diff, diff);
  if (feedback.empty()) feedback = judge_calls(task.expect.tool_success, parts_.record.tally());
  if (!feedback.empty()) count_failure(feedback, kind);
  return feedback;
}

void Acceptance::check_diff(const std::string& final_message) {
  const Diff& diff = *parts_.tree.diff();
  for (const auto& file : diff.files) {
    for (const auto& path : {file.path, file.old_path}) {
      if (!path.empty() && parts_.host.engine().is_protected(path))
        throw RunEnds{ExitCode::integrity, "the protected path " + path + " was changed"};
    }
  }
  parts_.tree.names().check(diff);
  check_leaks(final_message);
}

/// Finds secrets in the diff and the message; the policy says whether they end the run.
void Acceptance::check_leaks(const std::string& final_message) {
  const auto content = [&](const std::string& path) -> std::optional<std::string> {
    return parts_.view.read(path_in_workspace(path, parts_.inputs.workspace, parts_.git));
  };
  const auto leaks = find_leaks(parts_.redactor, parts_.tree.diff()->text, content);
  leaks_in_binary_ =
      std::any_of(leaks.begin(), leaks.end(), [](const Leak& leak) { return leak.in_binary; });
  std::vector<std::string> found;
  for (const auto kind : {Leak::Kind::value, Leak::Kind::marker})
    if (const std::string leak = describe_leaks(leaks, kind); !leak.empty())
      found.push_back("the diff holds " + leak);
  if (const auto name = parts_.redactor.find(final_message); !name.empty())
    found.push_back("the final message holds the value of " + name);
  std::vector<std::string>& warnings = parts_.result.warnings;
  if (const auto shape = describe_leaks(leaks, Leak::Kind::shape); !shape.empty())
    warnings.push_back("the diff adds " + shape);
  if (const auto shape = parts_.redactor.find(final_message, Audience::tools);
      !shape.empty() && parts_.redactor.find(final_message).empty())
    warnings.push_back("the final message has what looks like a " + shape);
  if (found.empty()) return;
  if (parts_.inputs.policy.on_leak == OnLeak::fail) {
    std::string reason = found.front();
    for (std::size_t i = 1; i < found.size(); ++i) reason += "; " + found[i];
    throw RunEnds{ExitCode::leak, reason};
  }
  for (const std::string& leak : found) {
    warnings.push_back("LEAK: " + leak);
    parts_.record.show_warning("LEAK: " + leak);
  }
}

}  // namespace sortie
