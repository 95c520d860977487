#pragma once

#include <filesystem>
#include <vector>

#include "core/workspace/own_tree.h"

namespace sortie {

/// Makes the user's own tree the start again for a time, its ignored files too, where no other tree
/// can be shown at its place. What the run has changed is kept beside the start meanwhile, on disk
/// before anything is changed: whoever opens or undoes the run after a kill puts it back first.
class OwnTreeAside {
 public:
  /// @param leave  paths that stay as the run has them
  /// @throws Error  ExitCode::environment; the tree is the run's then
  OwnTreeAside(const OwnTreeWorkspace& run, std::vector<std::filesystem::path> leave);
  OwnTreeAside(const OwnTreeAside&) = delete;
  OwnTreeAside& operator=(const OwnTreeAside&) = delete;
  ~OwnTreeAside();
  /// Makes it the run's again. @throws Error  ExitCode::environment: it could not be, wholly
  void end();

 private:
  const OwnTreeWorkspace& run_;
  WorkTimeGuard work_;  ///< what is written meanwhile is not somebody else's
  bool ended_ = false;
};

}  // namespace sortie
