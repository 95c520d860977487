#include "app/run/run_apply.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
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
#include "core/record/diff_names.h"
#include "core/workspace/apply/path_changes.h"
#include "core/workspace/apply/recover_tree.h"
#include "core/workspace/apply/tree_conversion.h"
#include "core/workspace/apply/tree_path.h"
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

void RunApply::apply(const Diff& diff, const Workspace& tree, const std::filesystem::path& out,
                     RunResult& result) {
  if (!root_) return;
  PlannedChanges planned;
  const auto add = [&](const Diff& one, const StartRecord& start) {
    const std::filesystem::path root = place_of(one.submodule, inputs_.workspace);
    const StartState state(start, root);
    plan(one.submodule, one.text,
         {.moved_ids = one.moved_ids,
          .conversion = conversion_at_start(state, prefix_of(root), one.converted)},
         planned);
  };
  add(diff, tree.record());
  for (const Diff& one : diff.submodules)
    for (const SubmoduleStart& start : tree.submodules())
      if (start.path == one.submodule) add(one, start.record);
  write(std::move(planned), out, result);
}

void RunApply::apply(const std::vector<RecordedChanges>& diffs, const std::filesystem::path& out,
                     RunResult& result) {
  if (!root_) return;
  PlannedChanges planned;
  for (const RecordedChanges& one : diffs) {
    const FoundRepository repository = find_repository(place_of(one.submodule, inputs_.workspace));
    plan(one.submodule, one.text,
         {.moved_ids = one.moved_ids, .conversion = conversion_of(repository)}, planned);
  }
  write(std::move(planned), out, result);
}

/// Adds what one diff makes of the workspace, with the paths of the workspace.
void RunApply::plan(const std::string& submodule, std::string_view diff, const PlanOptions& options,
                    PlannedChanges& planned) const {
  const std::string within = submodule.empty() ? "" : submodule + "/";
  if (!submodule.empty() && !path_problem(submodule).empty())
    throw Error("the path of a submodule: " + path_text(submodule), ExitCode::integrity);
  const std::string prefix = prefix_of(place_of(submodule, inputs_.workspace));
  if (!submodule.empty() && !prefix.empty())
    throw Error("the workspace is not as the diff needs it (" + path_text(submodule) +
                    " is no checked out submodule any more); nothing was applied",
                ExitCode::conflict);
  const auto in_workspace = [&](const std::string& path) {
    return within + below_workspace(path, prefix);
  };
  PlannedChanges own = plan_changes(
      read_patches(diff),
      [&](const std::string& path) {
        if (prefix.starts_with(path + "/"))  // above the workspace
          return PresentEntry{.kind = PresentEntry::Kind::folder};
        return read_present(root_.get(), in_workspace(path));
      },
      options);
  for (const std::string& conflict : own.conflicts) planned.conflicts.push_back(within + conflict);
  for (PathChange& change : own.changes) {
    change.path = in_workspace(change.path);
    planned.changes.push_back(std::move(change));
  }
}

void RunApply::write(PlannedChanges planned, const std::filesystem::path& out, RunResult& result) {
  result.applied = false;
  if (!planned.conflicts.empty())
    throw Error("the workspace is not as the diff needs it (" + some_of(planned.conflicts) +
                    "); nothing was applied",
                ExitCode::conflict);
  std::vector<PathChange>& changes = planned.changes;
  std::sort(changes.begin(), changes.end(),
            [](const PathChange& a, const PathChange& b) { return a.path < b.path; });
  std::vector<std::string> paths;
  for (const PathChange& change : changes) paths.push_back(change.path);
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
