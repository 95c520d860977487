#include "app/artifacts/diff_verdict.h"
#include "app/artifacts/kept_files.h"
#include "app/run/run_steps.h"
#include "core/agent/loop.h"
#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/workspace/diff/make_diff.h"

namespace sortie {

using namespace std::chrono_literals;

void Run::end_by_time(const std::string& doing) {
  const Exhausted time = budget_.time_spent();
  const int turn = agent_ ? agent_->loop().turn() : 0;
  events_.on(budget_exhausted_event(turn, time.which, time.limit, time.used));
  throw RunEnds{ExitCode::budget, "the time was up " + doing, time.next};
}

/// For what takes its time at the end.
void Run::end_if_over(const char* doing) {
  end_if_stopped();
  if (budget_.time_up()) end_by_time(doing);
}

void Run::make_result_diff(const Pace& pace, bool renames) {
  diff_.reset();
  undo_made_paths();
  DiffOptions options = diff_options(inputs_);
  options.pace = pace;
  options.renames = options.renames && renames;
  try {
    diff_ = make_diff(*workspace_, confinement_->view(), inputs_.workspace, options);
  } catch (const Error&) {
    diff_failed_ = true;
    throw;
  }
  result_.ignored_changes = diff_->ignored_changes;
  result_.applies_to = diff_->applies_to;
  result_.base = diff_->base;
  result_.head_commit = diff_->head_commit;
  result_.changed_files = static_cast<int>(diff_->files.size());
  result_.left_out = diff_->left_out;
  result_.too_large = diff_->too_large;
  result_.conflicts = diff_->conflicts;
}

/// Of a run that failed. Its time may be over: what the diff takes has a limit of its own.
void Run::make_partial_diff() {
  // Once a signal came, the process has 30 s to end in.
  const auto limit = stop().stop_requested() ? 15s : 30s;
  const auto deadline = clock_.steady() + limit;
  const auto pace = [&] {
    if (clock_.steady() >= deadline)
      throw Error("partial.diff was not done within " + std::to_string(limit.count()) +
                      " s, and is not written",
                  ExitCode::budget);
  };
  make_result_diff(pace, !budget_.time_up());
}

/// What the diff does not hold, or not against what the run began with.
std::vector<std::string> Run::undiffed_paths() const {
  std::vector<std::string> paths;
  if (!diff_) {
    for (const ChangedPath& changed : workspace_->changed_paths(confinement_->view()))
      if (changed.kind != ChangedPath::Kind::deleted) paths.push_back(changed.path);
    return paths;
  }
  paths = diff_->conflicts;
  for (const LeftOut& one : diff_->left_out)
    if (is_loss(one)) paths.push_back(one.path);
  for (const std::string& line : diff_->too_large)
    paths.push_back(line.substr(0, line.rfind(" sha256:")));
  return paths;
}

/// Work that was paid for is not thrown away because no diff can hold it.
void Run::keep_undiffed() {
  if (!diff_ && !diff_failed_) return;
  const KeptFiles kept = keep_files(out_.path(), confinement_->view(), undiffed_paths(), redactor_);
  result_.kept.insert(kept.digests.begin(), kept.digests.end());
  if (!kept.not_kept.empty())
    result_.warnings.push_back("not kept in " + std::string(kKeptFolder) +
                               "/: " + some_of(kept.not_kept));
}

ChangedState Run::state_of_tree() {
  undo_made_paths();
  return changed_state(*workspace_, confinement_->view(), inputs_.workspace,
                       inputs_.task.output.include, inputs_.task.verify.may_change,
                       [this] { end_if_over("while the tree was looked through"); });
}

/// A verification says something of the tree only where it is the same one before and after: its
/// commands run code of the agent's, which could write what passes. One that merely makes something
/// (a cache, a product) makes the same again, and passes when it runs once more.
VerificationResult Run::verify_whole(const std::string& phase, int round) {
  verified_state_.reset();
  end_background();
  ChangedState judged = state_of_tree();
  for (bool again = false;; again = true) {
    VerificationResult result = verify(phase, round);
    ChangedState left = state_of_tree();
    const std::vector<std::string> paths = differing_paths(judged, left);
    for (const std::string& path : paths)
      if (!judged.contains(path)) made_by_verification_.insert(path);
    if (!result.passed) return result;
    if (paths.empty()) {
      verified_state_ = std::move(left);
      return result;
    }
    result_.changed_by_verification = paths;
    if (again) {
      result_.verification = result;
      result_.verified = false;
      throw RunEnds{ExitCode::task_failed,
                    "the verification changes what it judges: " + some_of(paths),
                    "let git ignore what it makes, or name it in verify.may_change"};
    }
    progress_->say("the verification changed what it judges (" + some_of(paths, 3) +
                   "): it runs once more");
    judged = std::move(left);
  }
}

/// A program that was left running (a server of tools) could write between the verification and
/// the diff.
void Run::check_still_verified() {
  if (!verified_state_) return;
  const std::vector<std::string> paths = differing_paths(*verified_state_, state_of_tree());
  if (paths.empty()) return;
  result_.verified.reset();
  throw RunEnds{ExitCode::task_failed,
                "changed after its verification, by no call of the agent: " + some_of(paths)};
}

}  // namespace sortie
