#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "core/text/pattern.h"

namespace sortie {

struct CommandPlace;

/// What stands at the path of a script of the workspace, against the start of the run.
struct ScriptFile {
  std::filesystem::path path;  ///< relative to the workspace, links resolved
  std::string problem;         ///< why it is not as it was at the start; "" where it is
};

/// Looks at the file that a path means, as the kernel would resolve it.
/// path: absolute, as the command names it, not normalised: "WORKDIR/./scripts/a.sh"
using ScriptFiles = std::function<ScriptFile(const std::filesystem::path& path)>;

/// `allow: {script: GLOB}`: executables of the workspace, called by their path.
class ScriptRule {
 public:
  /// @throws PatternError
  explicit ScriptRule(const std::string& glob) : glob_(Pattern::path_glob(glob)) {}

  struct Match {
    std::string problem;  ///< why this script may not run all the same; "" where it may
  };
  /// Nothing where the rule is not about this command: argv[0] has no slash (a bare name is looked
  /// up on PATH), lies outside the workspace, or the glob does not match it. A script that was
  /// changed or made since the start, and one that a link leads to from elsewhere, is a match with
  /// a problem.
  std::optional<Match> match(std::span<const std::string> argv, const CommandPlace& place) const;

 private:
  Pattern glob_;
};

}  // namespace sortie
