#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/workspace/diff/diff.h"
#include "core/workspace/start_state.h"

namespace sortie {

/// A changed path with both of its sides; a side that git would not keep is none.
struct Change {
  std::string path;
  std::optional<TreeEntry> before;
  std::optional<TreeEntry> after;
  bool no_start = false;  ///< the user changed it too: `before` is not what the run began with
};

/// Paths by git's own patterns ("dist", "*.log"), as they stand in a task.
class PathPatterns {
 public:
  /// @param what  for the error: "output.diff.include"
  /// @throws Error  ExitCode::usage for what is no pattern
  PathPatterns(const std::vector<std::string>& patterns, const std::string& what);
  bool match(const std::string& path) const;

 private:
  GitPathspec patterns_;
};

/// Whether a changed path is no part of a diff, since git ignores it.
bool is_left_to_ignore_rules(const ChangedPath& changed, const StartState& start,
                             const PathPatterns& included);

/// The changes that belong into the diff, sorted by path. `diff` gets the lists of all others, and
/// of what has to be said of these.
std::vector<Change> select_changes(const Workspace& workspace, const Files& view,
                                   const StartState& start, const DiffOptions& options, Diff& diff);

}  // namespace sortie
