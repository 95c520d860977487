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
    std::string problem;  ///< why this script still may not run, or ""
  };
  /// Nothing if the rule does not apply: argv[0] has no slash (a bare name is looked up on PATH), is
  /// outside the workspace, or does not match the glob. A script that was changed or created since
  /// the start, or that is reached through a link from elsewhere, is a match with a problem.
  std::optional<Match> match(std::span<const std::string> argv, const CommandPlace& place) const;

 private:
  Pattern glob_;
};

}  // namespace sortie
