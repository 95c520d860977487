#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/workspace/diff/diff.h"
#include "core/workspace/diff/path_patterns.h"

namespace sortie {

/// The paths that a verification sees as at the start, whatever the agent did to them or to what lies
/// above them (verify.restore).
///
/// Links of the start are followed: where `tests` is a link to `real`, "tests/**" is about "real/**",
/// too, and about the link. So is "**/tests/**" where `x/tests` is one, and "tests/**" about the file
/// that `tests/check.sh` leads to.
class RestoredPaths {
 public:
  /// @param patterns  of the task; see PathPatterns
  /// @param start     outlives the object
  /// @param tracked   the links that git tracks, for patterns that begin with a wildcard; nothing: the
  ///                  whole tree is searched
  /// @throws Error  ExitCode::usage for an invalid pattern
  RestoredPaths(const std::vector<std::string>& patterns, const Files& start,
                const std::optional<std::vector<std::string>>& tracked = {});

  /// @param path  without links
  bool match(const std::string& path) const;

  /// Takes out of the effect what would change such a path: itself, a file or link in the place of a
  /// folder above it, and what would lie below it.
  /// @return  the paths that were taken out, sorted
  std::vector<std::string> take_out(DiffEffect& effect) const;

 private:
  bool match_by_links(const std::string& path) const;
  bool hides_some(const std::string& path) const;
  bool has_some_below(const std::string& path, std::set<std::string>& seen) const;
  bool lies_below_one(const std::string& path) const;

  const Files& start_;
  PathPatterns patterns_;
  std::map<std::string, std::string> links_;      ///< what each leads to, without links
  std::multimap<std::string, std::string> ways_;  ///< the links that lead to a path
};

}  // namespace sortie
