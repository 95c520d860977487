#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/workspace/diff/diff.h"
#include "core/workspace/start_state.h"

namespace sortie {

/// A changed path with both sides; empty for a side that git would not store.
struct Change {
  std::string path;
  std::optional<TreeEntry> before;
  std::optional<TreeEntry> after;
  bool no_start = false;  ///< the user changed it, too: `before` is not the state at the start
};

/// The changes for the diff, sorted by path. All others, and conflicts and the like, are added to
/// the lists of `diff`.
std::vector<Change> select_changes(const Workspace& workspace, const Files& view,
                                   const StartState& start, const DiffOptions& options, Diff& diff);

}  // namespace sortie
