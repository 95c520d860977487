#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/record/run_history.h"
#include "core/workspace/checkpoint/checkpoint_writer.h"
#include "core/workspace/workspace.h"

namespace sortie {

class RunRecord;

/// A tree that was made from a checkpoint.
struct RestoredTree {
  int turn = 0;                         ///< the last one whose changes it has
  std::vector<std::string> left_out{};  ///< changed paths that the checkpoint did not hold
};

/// The checkpoints of a run: one at the end of each turn that changed something, so that another
/// machine can go on from a copy of --out.
class RunCheckpoint {
 public:
  /// All arguments outlive this.
  RunCheckpoint(const Workspace& workspace, DiskFiles& view, const std::filesystem::path& out,
                const std::string& run_id, RunRecord& record);
  /// Makes the tree from the checkpoint that waits for it in --out, if there is one.
  /// @throws Error  environment: it can't be written; integrity: the checkpoint is no longer there
  std::optional<RestoredTree> restore(const RunHistory& history);
  /// What the tree had at the start beside its commit, so that it need not be looked for again.
  /// @param paths  as own_changes_since() has them, without a limit
  /// @param apart  the places that it did not count
  void know_start(const std::vector<std::string>& paths,
                  const std::vector<std::filesystem::path>& apart);
  /// Writes a checkpoint after this turn. A failure is a warning, and there are no more of them.
  void add(int turn) noexcept;

 private:
  const Workspace& workspace_;
  DiskFiles& view_;
  const std::filesystem::path& out_;
  const std::string& run_id_;
  RunRecord& record_;
  std::vector<std::filesystem::path> apart_;  ///< what checkpoints don't count
  std::optional<CheckpointWriter> writer_;
};

}  // namespace sortie
