#pragma once

#include <filesystem>

#include "app/run/run_record.h"
#include "ci/result.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// Puts the user's own tree back after a run that worked in it and failed. Until result.json says how
/// the run ended, the next one does it instead, should this one be killed.
class OwnTreeUndo {
 public:
  /// @param state  the run's state folder
  void watch(const Workspace& workspace, const std::filesystem::path& state);
  /// Does nothing after a success, in a tree of the run's own, or the second time. What was done, or
  /// why it could not be, is a warning.
  void undo_if_failed(RunResult& result, RunRecord& record);
  /// Whether the run works in the user's own tree.
  bool watches() const noexcept { return !state_.empty(); }
  /// Whether the next run needs the state to undo the rest.
  bool keeps_state() const noexcept { return keeps_state_; }

 private:
  std::filesystem::path state_;  ///< "" for a tree of the run's own
  bool tried_ = false;
  bool keeps_state_ = false;
};

}  // namespace sortie
