#pragma once

#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/workspace/diff/diff.h"
#include "core/workspace/diff/path_patterns.h"

namespace sortie {

/// The paths that a verification sees as at the start, whatever the agent did to them or to what lies
/// above them (verify.restore).
///
/// Links of the start are followed in the part of a pattern before its first wildcard: where `tests`
/// is a link to `real`, "tests/**" is about "real/**", too, and about the link.
class RestoredPaths {
 public:
  /// @param patterns  of the task; see PathPatterns
  /// @param start     outlives the object
  /// @throws Error  ExitCode::usage for an invalid pattern
  RestoredPaths(const std::vector<std::string>& patterns, const Files& start);

  bool match(const std::string& path) const { return patterns_.match(path); }

  /// Takes out of the effect what would change such a path: itself, a file or link in the place of a
  /// folder above it, and what would lie below it.
  /// @return  the paths that were taken out, sorted
  std::vector<std::string> take_out(DiffEffect& effect) const;

 private:
  bool hides_some(const std::string& path) const;
  bool has_some_below(const std::string& folder, int depth) const;
  bool lies_below_one(const std::string& path) const;

  const Files& start_;
  PathPatterns patterns_;
};

}  // namespace sortie
