#pragma once

#include <string>
#include <vector>

#include "core/git/git_repository.h"

namespace sortie {

/// git patterns ("dist", "*.log", "tests/**") from a task: git's pathspecs without magic, in which a
/// star stands for slashes, too. Besides, "**/" may stand for no folder, as in ignore files, and "./"
/// before a pattern means nothing.
class PathPatterns {
 public:
  /// @param what  their name in errors: "output.diff.include"
  /// @throws Error  ExitCode::usage for an invalid pattern
  PathPatterns(const std::vector<std::string>& patterns, const std::string& what);
  bool match(const std::string& path) const;

 private:
  GitPathspec patterns_;
};

}  // namespace sortie
