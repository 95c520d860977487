#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "core/text/pattern.h"
#include "policies/rules/command_place.h"

namespace sortie {

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
