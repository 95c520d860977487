#include "app/run/acceptance.h"

#include <algorithm>
#include <filesystem>

#include "app/artifacts/diff_verdict.h"
#include "app/artifacts/leaks.h"
#include "app/run/run_ends.h"
#include "app/run/shadowed_programs.h"
#include "ci/expectations.h"
#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/text/text.h"
#include "core/workspace/diff/whole_diff.h"
#include "core/workspace/tree.h"
#include "policies/engine/engine.h"

namespace sortie {
namespace {

/// A round that has failed for what the task expects of the diff.
constexpr const char* kExpectCheck = "expect";

/// The setup that failed, after which no command was run; null for none.
const VerificationOutcome* failed_setup(const VerificationResult& round) {
  const auto failed =
      std::find_if(round.outcomes.begin(), round.outcomes.end(),
                   [](const VerificationOutcome& one) { return one.setup && !one.passed; });
  return failed == round.outcomes.end() ? nullptr : &*failed;
}

}  // namespace

void Acceptance::verify_start() {
  const TaskVerify& task = parts_.inputs.task.verify;
  const ExpectedStart before = task.before;
  const bool is_needed =
      before != ExpectedStart::any || task.baseline == VerifyBaseline::no_new_failures;
  if (task.commands.empty() || !is_needed) return;
  RunResult& result = parts_.result;
  result.verification_before = verifier_.verify(VerificationPhase::before, 1, nullptr, nullptr);
  const VerificationOutcome* const setup = failed_setup(*result.verification_before);
  switch (judge_start(before, result.verification_before->passed)) {
    case StartCheck::go_on:
      // To mend it may be the task; where it is the machine's fault, all that follows is paid in vain.
      if (setup != nullptr)
        result.warnings.push_back(
            "verify.setup fails on the start state, so none of the commands was tried there: `" +
            one_line(setup->command, 80) + "`");
      return;
    case StartCheck::nothing_to_do:
      result.nothing_to_do = true;
      throw RunEnds{ExitCode::success, "the verification passes on the start state already"};
    case StartCheck::must_pass:
      throw RunEnds{
          ExitCode::task_failed,
          std::string("verify.before is pass, but the start state's verification failed") +
              (setup != nullptr ? ", in its setup" : "")};
  }
}

/// A round counts once its outcome was told to the agent: else it is run again.
void Acceptance::take_up(const RunHistory& history) {
  std::set<int> failed;
  int rounds = 0;
  for (const RecordedVerification& one : history.verifications) {
    if (one.phase == VerificationPhase::before && one.started.size() == one.completed.size())
      parts_.result.verification_before = recorded_verification(
          one.completed, parts_.inputs.task.verify.baseline == VerifyBaseline::no_new_failures);
    if (one.phase != VerificationPhase::after || one.turns_before >= history.turns.size()) continue;
    rounds = std::max(rounds, one.round);
    if (!one.passed()) failed.insert(one.round);
  }
  parts_.result.verification_rounds = rounds;
  failed_rounds_ = static_cast<int>(failed.size());
  for (std::size_t i = 0; i + 1 < history.turns.size(); ++i) {
    const auto& checks = history.turns[i].checks;
    if (std::any_of(checks.begin(), checks.end(),
                    [](const CheckRecord& one) { return one.check == kExpectCheck; }))
      ++failed_rounds_;
  }
}

/// In a fresh tree the diff comes first: it is what is judged, and what is handed over.
std::string Acceptance::evaluate_verification(Background& agent) {
  if (parts_.inputs.task.verify.commands.empty()) return {};
  RunResult& run = parts_.result;
  // If this one does not finish, the result of an earlier one must not remain.
  run.verified.reset();
  run.verification.reset();
  verified_state_.reset();
  std::optional<ChangedState> judged;
  if (verifier_.is_fresh()) {
    verifier_.end_background(&agent);
    judged = parts_.tree.state();
    parts_.tree.make_diff();
    if (std::string feedback = judge_whole(); !feedback.empty()) return feedback;
    if (std::string feedback = judge_programs(); !feedback.empty()) return feedback;
  }
  const int round = ++run.verification_rounds;
  const Diff* diff = judged ? &*parts_.tree.diff() : nullptr;
  run.verification = verifier_.verify(VerificationPhase::after, round, diff, &agent);
  const std::vector<std::string>& changed = verifier_.changed();
  run.verified = run.verification->passed && changed.empty();
  if (*run.verified) {
    verified_state_ = judged ? std::move(judged) : verifier_.take_left();
    warn_of_excused(*run.verification);
    return {};
  }
  if (run.verification->passed) {
    count_failure(changes_what_it_checks(changed), "", kLetItChange);
    return "The verification passed, but it wrote files that your diff has otherwise, or has not: " +
           some_of(changed, 20) +
           ". So it has not checked your diff. Make these changes in your work, or see to it that "
           "it does not make them, then end with your final message.";
  }
  count_failure(
      "verification failed after " + std::to_string(round) + (round == 1 ? " round" : " rounds"),
      kFailedVerification);
  return feedback_of_round(*run.verification);
}

std::string Acceptance::feedback_of_round(const VerificationResult& failed) const {
  std::string text =
      verification_feedback(failed, failed_rounds_, parts_.inputs.task.verify.rounds + 1);
  if (!verifier_.is_fresh()) return text;
  std::string absent = absent_from_fresh_tree(*parts_.tree.diff(), parts_.result.restored);
  if (const auto& changed = verifier_.changed(); !changed.empty())
    absent += "It passed before, when it had written these files, which your diff has otherwise: " +
              some_of(changed) + ".\n";
  if (const auto& removed = verifier_.taken_out(); !removed.empty())
    absent +=
        "These were removed before the next command, as verify.restore names them and the start "
        "does not have them: " +
        some_of({removed.begin(), removed.end()}) + ".\n";
  return absent.empty() ? text : text + "\n" + absent;
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
void Acceptance::count_failure(const std::string& reason, const std::string& kind,
                               const std::string& next) {
  const int rounds = parts_.inputs.task.verify.rounds;
  if (++failed_rounds_ > rounds) throw RunEnds{ExitCode::task_failed, reason, next, kind};
  if (kind != kFailedVerification)  // that is on record by itself
    parts_.record.events().on(
        {parts_.record.turn(), CheckRecord{.check = kExpectCheck, .saw = reason}});
  parts_.record.say(
      "round " + std::to_string(failed_rounds_) + " of " + std::to_string(rounds + 1) +
      " has failed: " + (kind == kFailedVerification ? "the output" : in_quotes(reason, 400)) +
      " goes back to the agent");
}

std::string Acceptance::evaluate_stage(Background& agent) {
  verifier_.end_background(&agent);
  // A fresh tree is made from what the run's is now.
  const auto stamp = tree_stamp(parts_.root);
  std::string feedback = evaluate_verification(agent);
  if (feedback.empty()) verified_tree_ = verifier_.is_fresh() ? stamp : tree_stamp(parts_.root);
  return feedback;
}

/// Whether nothing was written since the verification of a stage passed.
bool Acceptance::tree_is_as_verified() const {
  return verified_tree_ && verified_tree_ == tree_stamp(parts_.root);
}

void Acceptance::doubt_changed_tree() {
  if (verified_tree_ && !tree_is_as_verified()) parts_.result.verified.reset();
}

/// Whether the diff is, byte for byte, the one that the last verification passed on.
bool Acceptance::diff_is_as_verified() const {
  return parts_.tree.diff() && digest_of(*parts_.tree.diff()) == parts_.result.verified_diff;
}

std::string Acceptance::evaluate_end(Background& agent) {
  verifier_.end_background(&agent);
  bool stands = tree_is_as_verified();
  const bool is_fresh = verifier_.is_fresh();
  if (stands || !is_fresh) {
    if (!stands) {
      verified_tree_.reset();
      if (std::string feedback = evaluate_verification(agent); !feedback.empty()) return feedback;
    }
    parts_.tree.make_diff();
    stands = !is_fresh || diff_is_as_verified();
  }
  if (!stands) {
    verified_tree_.reset();
    if (std::string feedback = evaluate_verification(agent); !feedback.empty()) return feedback;
  }
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

/// Whether the diff has all of the work: otherwise nothing else matters.
std::string Acceptance::judge_whole() {
  const Diff& diff = *parts_.tree.diff();
  if (!diff.conflicts.empty())
    throw RunEnds{ExitCode::conflict,
                  "changed in the workspace too since the start: " + some_of(diff.conflicts)};
  const std::string lost =
      undiffable_changes(diff, parts_.inputs.policy.limits.on_large_file == OnLargeFile::fail);
  if (lost.empty()) return "";
  count_failure(lost);
  return lost + " Take them back, or make them in another way, then end with your final message.";
}

/// Whether the verification runs what its commands name.
std::string Acceptance::judge_programs() {
  const auto& environment = parts_.host.environment();
  const auto search = environment.find("PATH");
  if (search == environment.end()) return "";
  const std::string shadowed = describe_shadowed(
      shadowed_programs(parts_.tree.diff()->effect, parts_.tree.workspace().start(),
                        parts_.host.workspace(), search->second));
  if (shadowed.empty()) return "";
  count_failure(shadowed);
  return shadowed + ". Give them other names, then end with your final message.";
}

std::string Acceptance::evaluate_diff() {
  if (std::string lost = judge_whole(); !lost.empty()) return lost;
  const Diff& diff = *parts_.tree.diff();
  const Task& task = parts_.inputs.task;
  std::string feedback =
      judge_changes(expected_changes(task.expect.changes, nothing_may_be_written(parts_.inputs),
                                     task.output.schema.has_value()),
                    !is_empty(diff));
  const std::string kind = !feedback.empty() && is_empty(diff) ? kNoChanges : "";
  if (feedback.empty()) feedback = judge_diff(task.expect.diff, diff);
  if (feedback.empty()) feedback = judge_calls(task.expect.tool_success, parts_.record.tally());
  if (!feedback.empty()) count_failure(feedback, kind);
  return feedback;
}

void Acceptance::check_diff(const std::string& final_message) {
  const Diff& diff = *parts_.tree.diff();
  RunResult& run = parts_.result;
  if (run.verified && verifier_.is_fresh()) {
    if (!diff_is_as_verified())
      throw Error("the diff is not the one that was verified", ExitCode::internal);
    if (!run.restored.empty())
      parts_.record.warn("verified with these as at the start, though the diff changes them: " +
                         some_of(run.restored) + " (verify.restore)");
  }
  warn_of_attributes();
  for (const auto& file : all_files(diff)) {
    for (const auto& path : {file.path, file.old_path}) {
      if (!path.empty() && parts_.host.engine().is_protected(path))
        throw RunEnds{ExitCode::integrity, "the protected path " + path + " was changed"};
    }
  }
  parts_.tree.names().check(diff);
  check_leaks(final_message);
}

/// The diff has the bytes that were verified, and git would check out others.
void Acceptance::warn_of_attributes() {
  if (!parts_.result.verified.value_or(false)) return;
  std::vector<std::string> paths;
  for (const auto& file : all_files(*parts_.tree.diff()))
    if (std::filesystem::path(file.path).filename() == ".gitattributes") paths.push_back(file.path);
  if (!paths.empty())
    parts_.record.warn("the diff changes " + some_of(paths) +
                       ": once it is committed, git may check out other bytes than were verified "
                       "(line ends, encodings)");
}

/// Finds secrets in the diff and the message; the policy says whether they end the run.
void Acceptance::check_leaks(const std::string& final_message) {
  const Diff& diff = *parts_.tree.diff();
  const auto content = [&](const std::string& path) -> std::optional<std::string> {
    return parts_.view.read(path_in_workspace(path, parts_.inputs.workspace, parts_.git));
  };
  std::vector<Leak> leaks =
      find_leaks(parts_.redactor, diff.text, content, [&] { diff.text.give_back(); });
  for (const Diff& one : diff.submodules) {
    const auto content_within = [&](const std::string& path) -> std::optional<std::string> {
      return parts_.view.read(within(one) + path);
    };
    for (Leak& leak :
         find_leaks(parts_.redactor, one.text, content_within, [&] { one.text.give_back(); })) {
      leak.place = within(one) + leak.place;
      leaks.push_back(std::move(leak));
    }
  }
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
