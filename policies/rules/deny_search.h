#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/text/pattern.h"
#include "policies/rules/action.h"
#include "policies/rules/policy.h"
#include "policies/shell/script.h"

namespace sortie {

/// `allow: {script: GLOB}`: executables of the workspace, called by their path.
class ScriptRule {
 public:
  /// @throws PatternError
  explicit ScriptRule(const std::string& glob) : glob_(Pattern::path_glob(glob)) {}

  struct Match {
    std::string problem;  ///< why this script still may not run, or ""
  };
  /// Nothing if the rule does not apply: argv[0] has no slash (a bare name is looked up on PATH),
  /// is outside the workspace, or does not match the glob. A script that was changed or created
  /// since the start, or that is reached through a link from elsewhere, is a match with a problem.
  std::optional<Match> match(std::span<const std::string> argv, const CommandPlace& place) const;

 private:
  Pattern glob_;
};

/// A rule with its globs compiled.
struct CompiledRule {
  const CommandRule* rule = nullptr;
  std::vector<Pattern> but_not;
  std::optional<ScriptRule> script;
};

/// A rule that a command matches, and whether it certainly does.
struct RuleMatch {
  const CommandRule* rule = nullptr;      ///< null: none matches
  const CommandRule* excepted = nullptr;  ///< matches except for its but_not on `part`
  std::string part;                       ///< the command, or the part of a script, that matches
  std::string problem{};                  ///< why `excepted` doesn't match, if not by its but_not
  bool loose = false;  ///< a possible match: a word of a script, an option read both ways
};

/// Whether the argv itself, not unwrapped, is in the rule's class.
bool matches_class(const CommandRule& rule, std::span<const std::string> argv,
                   const CommandPlace& place);

/// The strongest forbid or deny rule that matches anything the argv could run, see
/// CommandRules::find_deny.
RuleMatch search_deny(std::span<const CompiledRule> rules, std::span<const std::string> argv,
                      const CommandPlace& place);

/// Why the first script that the argv would pass to a shell, also through wrappers, can't be read;
/// nothing if all can.
std::optional<ScriptRefusal> find_unreadable(std::span<const std::string> argv);

}  // namespace sortie
