#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/text/pattern.h"
#include "policies/rules/policy.h"
#include "policies/rules/running_beside.h"
#include "policies/rules/script_rule.h"

namespace sortie {

/// Where a command is to run, for the rules that judge paths.
struct CommandPlace {
  std::filesystem::path workspace;                 ///< absolute
  std::filesystem::path workdir;                   ///< absolute
  std::span<const std::filesystem::path> folders;  ///< in which a command's name is looked up
  /// What stands at a script's path now; nothing: script rules judge by words alone.
  const ScriptFiles* scripts = nullptr;
  const RunningBeside* beside = nullptr;  ///< what runs already; nothing: nothing does
};

/// A rule with its globs compiled.
struct CompiledRule {
  const CommandRule* rule = nullptr;
  std::vector<Pattern> but_not;
  std::optional<ScriptRule> script;
};

/// A rule that a command matches, and how surely.
struct RuleMatch {
  const CommandRule* rule = nullptr;      ///< nothing: none matches
  const CommandRule* excepted = nullptr;  ///< would have matched but for its but_not on `part`
  std::string part;                       ///< the command, or the part of a script, that it matches
  std::string problem{};                  ///< why `excepted` excepts it, where not by its but_not
  bool loose = false;  ///< only could be it: a word of a script, an option read both ways
};

/// The `commands` rules of a policy, their globs compiled. The policy must outlive it.
class CommandRules {
 public:
  /// @throws PatternError
  explicit CommandRules(const std::vector<CommandRule>& rules);

  /// The first allow rule that the argv itself matches; wrappers are never seen through.
  /// @param globs  the words, by number, that a shell may turn into names of files
  RuleMatch find_allow(std::span<const std::string> argv, const CommandPlace& place,
                       std::span<const std::size_t> globs = {}) const;
  /// The same among the rules that escalate.
  RuleMatch find_escalating(std::span<const std::string> argv, const CommandPlace& place) const;

  /// The strongest forbid or deny rule that the argv, or anything that it could run, matches:
  /// wrappers and shell strings are seen through, and names also match by any path. Each command
  /// of a script that the strict reader reads is matched as an argv is, other scripts loosely.
  RuleMatch find_deny(std::span<const std::string> argv, const CommandPlace& place) const;

 private:
  template <typename Wanted>
  RuleMatch find_first(std::span<const std::string> argv, const CommandPlace& place,
                       std::span<const std::size_t> globs, Wanted wanted) const;
  std::vector<CompiledRule> rules_;
};

/// Whether the argv as it stands is of the rule's class.
bool matches_class(const CommandRule& rule, std::span<const std::string> argv,
                   const CommandPlace& place);

/// Whether one rule matches a direct argv, as find_allow judges: for the examples of a rule.
/// @throws PatternError
bool rule_matches(const CommandRule& rule, const std::vector<std::string>& argv,
                  const CommandPlace& place);

}  // namespace sortie
