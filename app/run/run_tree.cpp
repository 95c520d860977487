#include "app/run/run_tree.h"

#include <chrono>
#include <utility>

#include "app/artifacts/diff_verdict.h"
#include "app/artifacts/kept_files.h"
#include "app/run/cut_off_effects.h"
#include "app/run/run_ends.h"
#include "app/run/run_record.h"
#include "app/run/run_start.h"
#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/files/new_file_mode.h"
#include "core/json/json.h"
#include "core/workspace/diff/make_diff.h"
#include "core/workspace/tree.h"

namespace sortie {

using namespace std::chrono_literals;

namespace {

DiffOptions diff_options(const RunInputs& inputs, std::set<std::string> patched) {
  const TaskOutput& output = inputs.task.output;
  DiffOptions options;
  options.base = output.base;
  options.context_lines = output.context_lines;
  options.renames = output.renames;
  options.include = output.include;
  options.products = output.products;
  options.lfs = output.lfs;
  options.patched = std::move(patched);
  options.place = inputs.workspace.native();
  options.max_file_size = inputs.policy.limits.diff_file_size;
  return options;
}

/// Options of the diff that the model gets during the run.
DiffOptions draft_options(const RunInputs& inputs, std::set<std::string> patched,
                          const std::string& only, const CancelCheck& check_cancel) {
  constexpr std::uint64_t kMostDraftBytes = 32u << 20;  // held in memory about three times
  DiffOptions options = diff_options(inputs, std::move(patched));
  options.only = only;
  options.check_cancel = check_cancel;
  options.draft = true;
  options.max_bytes = kMostDraftBytes;
  return options;
}

/// How much the diff changes, in submodules too.
void take_counts(const Diff& diff, RunResult& result) {
  const LineCounts lines = count_lines(diff.text);
  result.changed_files = static_cast<int>(diff.files.size());
  result.added_lines = lines.added;
  result.removed_lines = lines.removed;
  result.submodules.clear();
  for (const Diff& one : diff.submodules) {
    const LineCounts own = count_lines(one.text);
    result.submodules.push_back({.path = one.submodule,
                                 .diff = {},
                                 .applies_to = one.applies_to,
                                 .base = one.base,
                                 .head_commit = one.head_commit,
                                 .changed_files = static_cast<int>(one.files.size()),
                                 .added_lines = own.added,
                                 .removed_lines = own.removed});
    result.changed_files += result.submodules.back().changed_files;
    result.added_lines += own.added;
    result.removed_lines += own.removed;
  }
}

}  // namespace

Diff RunTree::draft(const std::string& only, const CancelCheck& check_cancel) {
  return sortie::make_diff(parts_.workspace, parts_.view, parts_.inputs.workspace,
                           draft_options(parts_.inputs, patched(), only, check_cancel));
}

std::vector<ChangedPath> RunTree::changed_paths() {
  return parts_.workspace.changed_paths(parts_.view);
}

std::vector<std::string> RunTree::touched_paths() {
  return touched_ ? touched_->take() : std::vector<std::string>();
}

void RunTree::begin_work() {
  if (!parts_.workspace.keeps_start()) names_.led_elsewhere();  // known only now
  if (parts_.record.earlier()) remove_unfinished_writes();
  // No run of a thread is gone on with.
  if (parts_.inputs.thread == nullptr) begin_checkpoints();
  touched_.emplace(parts_.workspace, parts_.inputs.policy.limits.file_size);
  call_changes_.emplace(parts_.workspace, parts_.view, parts_.record.connections(),
                        parts_.redactor);
  if (const auto& earlier = parts_.record.earlier()) call_changes_->take_up(*earlier);
}

void RunTree::begin_checkpoints() {
  checkpoint_.emplace(parts_.workspace, parts_.view, parts_.out, parts_.result.run_id,
                      parts_.record);
  if (const auto& earlier = parts_.record.earlier()) restored_ = checkpoint_->restore(*earlier);
  parts_.record.at_turn_ends([this](int turn) { checkpoint_->add(turn); });
}

void RunTree::know_start(const std::vector<std::string>& paths,
                         const std::vector<std::filesystem::path>& apart) {
  if (checkpoint_) checkpoint_->know_start(paths, apart);
}

void RunTree::checkpoint() noexcept {
  if (checkpoint_) checkpoint_->add(parts_.record.turn());
}

/// Removes what a patch left beside its files when it was killed: new files that are not written
/// wholly, and old ones that were replaced.
void RunTree::remove_unfinished_writes() {
  for (const ChangedPath& changed : changed_paths())
    if (changed.kind == ChangedPath::Kind::added &&
        is_temporary_name(std::filesystem::path(changed.path).filename().native()))
      parts_.view.remove(changed.path);
}

std::vector<FileChange> RunTree::file_changes(const std::vector<std::string>& touched,
                                              bool by_other_program) {
  return call_changes_ ? call_changes_->take(touched, by_other_program) : std::vector<FileChange>();
}

std::vector<std::string> RunTree::files_at_limit() {
  return touched_ ? touched_->at_limit() : std::vector<std::string>();
}

/// A patch may name a path through a link.
std::set<std::string> RunTree::patched() const {
  std::set<std::string> paths;
  for (const std::string& path : parts_.record.patched_paths()) {
    try {
      paths.insert(parts_.view.resolve(path).native());
    } catch (const ToolError&) {  // it leads elsewhere by now
    }
    paths.insert(path);
  }
  return paths;
}

void RunTree::end_by_time(const std::string& doing) {
  const BudgetLimit time = parts_.budget.time_spent();
  RunRecord& record = parts_.record;
  record.events().on({record.turn(), BudgetExhausted{time.which, time.limit, time.used}});
  throw RunEnds{ExitCode::budget, "the time was up " + doing, time.next};
}

/// Ends the run during a long step if it was stopped or its time is up.
void RunTree::end_if_over(const char* doing) {
  end_if_stopped(parts_.signals);
  if (parts_.budget.time_up()) end_by_time(doing);
}

void RunTree::make_diff() {
  make([this] { end_if_over("while the diff was made"); }, true);
}

void RunTree::make_partial_diff() {
  // Once a signal came, the process has 30 s to end in.
  const auto limit = parts_.signals.token().stop_requested() ? 15s : 30s;
  const auto deadline = parts_.clock.steady() + limit;
  const auto check_cancel = [&] {
    if (parts_.clock.steady() >= deadline)
      throw Error("partial.diff was not done within " + std::to_string(limit.count()) +
                      " s, and is not written",
                  ExitCode::budget);
  };
  make(check_cancel, !parts_.budget.time_up());
}

void RunTree::make(const CancelCheck& check_cancel, bool renames) {
  diff_.reset();
  names_.undo_made();
  if (!parts_.workspace.keeps_start()) {
    diff_.emplace();
    parts_.result.changes_known = false;
    return;
  }
  DiffOptions options = diff_options(parts_.inputs, patched());
  options.check_cancel = check_cancel;
  options.renames = options.renames && renames;
  options.scratch = parts_.out;
  options.effect = parts_.inputs.task.verify.in == VerifyIn::fresh &&
                   !parts_.inputs.task.verify.commands.empty();
  try {
    diff_ = sortie::make_diff(parts_.workspace, parts_.view, parts_.inputs.workspace, options);
  } catch (const Error&) {
    diff_failed_ = true;
    throw;
  }
  RunResult& result = parts_.result;
  result.ignored_changes = diff_->ignored_changes;
  result.applies_to = diff_->applies_to;
  result.base = diff_->base;
  result.head_commit = diff_->head_commit;
  take_counts(*diff_, result);
  diff_->text.give_back();
  result.left_out = diff_->left_out;
  result.too_large = diff_->too_large;
  result.conflicts = diff_->conflicts;
}

/// The changed paths that the diff lacks, or has against another base than the start.
std::vector<std::string> RunTree::undiffed_paths() {
  std::vector<std::string> paths;
  if (!diff_) {
    for (const ChangedPath& changed : changed_paths())
      if (changed.kind != ChangedPath::Kind::deleted) paths.push_back(changed.path);
    return paths;
  }
  paths = diff_->conflicts;
  for (const LeftOut& one : diff_->left_out)
    if (is_loss(one)) paths.push_back(one.path);
  for (const TooLarge& one : diff_->too_large) paths.push_back(one.path);
  return paths;
}

/// Without a diff, every changed path is one that is left out, those that are gone too.
void RunTree::list_undiffed() {
  parts_.result.left_out.clear();
  for (const ChangedPath& changed : changed_paths())
    if (!in_git_folder(changed.path))
      parts_.result.left_out.push_back(
          {changed.path, LeftOut::Why::no_diff,
           changed.kind == ChangedPath::Kind::deleted ? "removed" : "written"});
}

/// Names them in result.json before they are there: a run that is killed meanwhile would leave files
/// that nobody could tell from somebody else's.
void RunTree::announce_kept(const std::vector<std::string>& paths) {
  Json kept = Json::object();
  for (const auto& [name, digest] : parts_.result.kept) kept.set(name, digest);
  for (const std::string& path : paths) kept.set(path, "");
  Json running =
      running_json(parts_.result.run_id, parts_.result.run_key, names_saved(parts_.inputs.task));
  running.set("kept", std::move(kept));
  write_file(parts_.out / "result.json",
             write_json_pretty(parts_.redactor.json(running, Audience::people)), new_file_mode());
}

void RunTree::keep_undiffed() {
  if (!diff_ && !diff_failed_) return;
  if (!diff_) list_undiffed();
  const std::vector<std::string> paths = undiffed_paths();
  if (!paths.empty()) announce_kept(paths);
  const KeptFiles kept = keep_files(parts_.out, parts_.view, paths, parts_.redactor);
  parts_.result.kept.insert(kept.digests.begin(), kept.digests.end());
  if (!kept.not_kept.empty())
    parts_.result.warnings.push_back("not kept in " + std::string(kKeptFolder) +
                                     "/: " + some_of(kept.not_kept));
}

CutOffEffects RunTree::cut_off_effects(const TurnCall* call) {
  const RunHistory& history = *parts_.record.earlier();
  // Stamps of files are of the kernel's last tick.
  const auto since = call != nullptr ? call->started - 20ms : history.worked.back().to;
  CutOffEffects effects;
  if (!std::exchange(effects_found_, true))
    effects = find_cut_off_effects(parts_.workspace, parts_.view, parts_.inputs.workspace, history,
                                   since, parts_.redactor);
  call_changes_->take_up(effects.changes);
  if (restored_) effects.text = "what it changed in the workspace is not kept";
  return effects;
}

ChangedState RunTree::state() {
  names_.undo_made();
  return state_of(parts_.workspace, parts_.view);
}

Diff RunTree::snapshot(const CancelCheck& check_cancel) {
  names_.undo_made();
  DiffOptions options = diff_options(parts_.inputs, patched());
  options.check_cancel = check_cancel;
  options.effect = true;
  return sortie::make_diff(parts_.workspace, parts_.view, parts_.inputs.workspace, options);
}

ChangedState RunTree::state_of(const Workspace& workspace, const DiskFiles& files) {
  const Task& task = parts_.inputs.task;
  return changed_state(workspace, files, parts_.inputs.workspace,
                       diff_options(parts_.inputs, patched()), task.verify.may_change,
                       [this] { end_if_over("while the tree was looked through"); });
}

}  // namespace sortie
