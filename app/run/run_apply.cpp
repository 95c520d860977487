#include "app/run/run_apply.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/journal_name.h"
#include "core/files/path_below.h"
#include "core/git/config/git_place.h"
#include "core/git/git_repository.h"
#include "core/workspace/apply/path_changes.h"
#include "core/workspace/apply/recover_tree.h"
#include "core/workspace/apply/tree_conversion.h"
#include "core/workspace/start_state.h"
#include "core/workspace/undo_own_tree.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

std::filesystem::path toplevel_of(const std::filesystem::path& workspace) {
  const GitPlace place = find_git_place(workspace);
  return place.toplevel.empty() ? workspace : place.toplevel;
}

/// The diff's paths begin at the repository's toplevel.
std::string below_workspace(const std::string& path, const std::string& prefix) {
  if (!path.starts_with(prefix))
    throw Error("the diff names " + path_text(path) + " outside of the workspace");
  return path.substr(prefix.size());
}

PresentEntry read_in_workspace(int root, const std::string& path, const std::string& prefix) {
  if (prefix.starts_with(path + "/")) return {.kind = PresentEntry::Kind::folder};  // above it
  return read_present(root, below_workspace(path, prefix));
}

TreeConversion conversion_at_start(const StartState& start, const std::string& prefix,
                                   const std::set<std::string>& converted) {
  return {.to_git =
              [&start, prefix](const std::string& path, const std::string& content) {
                return start.to_git(below_workspace(path, prefix), content);
              },
          .to_tree =
              [&start, prefix](const std::string& path, const std::string& content) {
                return start.to_tree(below_workspace(path, prefix), content);
              },
          .is_stored = [&converted](const std::string& path,
                                    const std::string&) { return converted.contains(path); }};
}

/// Of the paths of a diff.
std::string prefix_of(const std::filesystem::path& workspace) {
  const GitPlace place = find_git_place(workspace);
  return place.git_dir.empty() ? "" : prefix_in(place.toplevel, workspace);
}

/// A command that worked in the user's own tree may have made a journal: if its run was killed, nobody
/// has taken it away.
/// @throws Error  conflict
void check_journals(const fs::path& state, fs::path folder, const fs::path& top) {
  struct stat began {};
  if (!has_own_tree(state) || ::stat((state / "began").c_str(), &began) != 0) return;
  const auto time_of = [](const struct stat& status) {
    return std::pair(status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
  };
  for (;; folder = folder.parent_path()) {
    struct stat made {};
    if (::lstat((folder / kApplyFolder).c_str(), &made) == 0 && time_of(made) >= time_of(began))
      throw Error(path_text(folder / kApplyFolder) +
                      " was made since a run began to work in this tree, which was killed: it is "
                      "not believed. Remove it, unless sortie land was killed here since: then run "
                      "that again first",
                  ExitCode::conflict);
    if (folder == top || !path_below(folder, top) || folder == folder.parent_path()) return;
  }
}

}  // namespace

void recover_workspace(const RunOptions& options, RunInputs& inputs) {
  const fs::path top = toplevel_of(inputs.workspace);
  check_journals(fs::path(options.out) / "state", inputs.workspace, top);
  for (std::string& text : recover_trees(inputs.workspace, top))
    inputs.warnings.push_back(std::move(text));
}

void check_apply(const RunOptions& options, const RunInputs& inputs) {
  if (options.apply && std::string_view(name_of(inputs.task.workspace.isolation)) == "none")
    throw InputError(
        "--apply: with isolation none the workspace itself is changed during the run; leave out "
        "--apply, or use another isolation");
  const std::string problem = options.apply ? apply_problem(inputs.workspace) : "";
  if (!problem.empty()) throw InputError("--apply: " + path_text(inputs.workspace) + " " + problem);
}

RunApply::RunApply(const RunOptions& options, const RunInputs& inputs) : inputs_(inputs) {
  if (!options.apply) return;
  root_ = Fd(::open(inputs.workspace.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root_) throw path_error("--apply " + inputs.workspace.string(), errno);
}

void RunApply::apply(const Diff& diff, const StartRecord& start, const std::filesystem::path& out,
                     RunResult& result) {
  const StartState state(start, inputs_.workspace);
  const TreeConversion conversion =
      conversion_at_start(state, prefix_of(inputs_.workspace), diff.converted);
  apply(diff.text, {.moved_ids = diff.moved_ids, .conversion = conversion}, out, result);
}

void RunApply::apply(const RecordedChanges& diff, const std::filesystem::path& out,
                     RunResult& result) {
  const FoundRepository repository = find_repository(inputs_.workspace);
  apply(diff.text, {.moved_ids = diff.moved_ids, .conversion = conversion_of(repository)}, out,
        result);
}

void RunApply::apply(std::string_view diff, const PlanOptions& options,
                     const std::filesystem::path& out, RunResult& result) {
  if (!root_) return;
  result.applied = false;
  const std::string prefix = prefix_of(inputs_.workspace);
  const PlannedChanges planned = plan_changes(
      read_patches(diff),
      [&](const std::string& path) { return read_in_workspace(root_.get(), path, prefix); },
      options);
  if (!planned.conflicts.empty())
    throw Error("the workspace is not as the diff needs it (" + some_of(planned.conflicts) +
                    "); nothing was applied",
                ExitCode::conflict);
  std::vector<PathChange> changes = planned.changes;
  std::vector<std::string> paths;
  for (PathChange& change : changes) {
    change.path = below_workspace(change.path, prefix);
    paths.push_back(change.path);
  }
  changes_ = std::make_unique<TreeApply>(
      root_.get(), changes, ApplyMark{.result = out / "result.json", .run_id = result.run_id});
  changes_->perform();
  result.applied = true;
  result.applied_paths = std::move(paths);
}

void RunApply::undo(RunResult& result) {
  if (!changes_) return;
  for (const std::string& left : changes_->undo())
    result.warnings.push_back("--apply was taken back, but not at " + left);
  changes_.reset();
  result.applied = false;
  result.applied_paths.clear();
}

void RunApply::settle() noexcept {
  try {
    if (changes_) changes_->settle();
  } catch (const std::exception&) {
    changes_->leave();
  }
  changes_.reset();
}

}  // namespace sortie
