#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"
#include "app/run/recorded_changes.h"
#include "ci/result.h"
#include "core/base/fd.h"
#include "core/workspace/apply/path_changes.h"
#include "core/workspace/apply/tree_apply.h"
#include "core/workspace/diff/diff.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// Takes back, or completes, what a killed process was applying to the workspace or to a folder
/// above it in its repository; says so in the warnings.
/// @throws Error  busy, conflict (recover_tree()); conflict: it may be the work of a run in this tree
///                that was killed
void recover_workspace(const RunOptions& options, RunInputs& inputs);

/// After recover_workspace(): whether --apply can't work, which would be a pity at the end of a run.
/// @throws InputError  isolation none; a workspace that can't be written, or has something in the
///                     place of sortie's own folder
void check_apply(const RunOptions& options, const RunInputs& inputs);

/// Writes the diff of a successful run into the user's tree (--apply).
///
/// The changes count once result.json says so: until then they are taken back by whatever ends the
/// run otherwise, be it a kill.
class RunApply {
 public:
  /// Opens the workspace's folder if --apply was given: whatever is renamed later, this one is
  /// written to. @throws Error
  RunApply(const RunOptions& options, const RunInputs& inputs);

  /// Does nothing without --apply.
  /// The diff and those of its submodules are applied together, all or none.
  /// @param tree    of the run: how git converted the files at the start
  /// @param out     --out, absolute
  /// @param result  gets `applied` and the paths
  /// @throws Error  conflict: a touched path has changed meanwhile; environment. Nothing is changed
  void apply(const Diff& diff, const Workspace& tree, const std::filesystem::path& out,
             RunResult& result);
  /// The same with the diff of a run that another process has ended.
  void apply(const std::vector<RecordedChanges>& diffs, const std::filesystem::path& out,
             RunResult& result);
  /// Takes the changes back. A path that is not as it was is a warning.
  void undo(RunResult& result);
  /// After result.json: the changes stay. Can't fail: the next start on this tree does it otherwise.
  void settle() noexcept;

 private:
  void plan(const std::string& submodule, std::string_view diff, const PlanOptions& options,
            PlannedChanges& planned) const;
  void write(PlannedChanges planned, const std::filesystem::path& out, RunResult& result);

  const RunInputs& inputs_;
  Fd root_;
  std::unique_ptr<TreeApply> changes_;
};

}  // namespace sortie
