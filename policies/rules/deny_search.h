#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/text/pattern.h"
#include "policies/rules/command_place.h"
#include "policies/rules/policy.h"
#include "policies/rules/script_rule.h"
#include "policies/shell/script.h"

namespace sortie {

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

/// Whether the argv as it stands is of the rule's class.
bool matches_class(const CommandRule& rule, std::span<const std::string> argv,
                   const CommandPlace& place);

/// The strongest forbid or deny rule among all that the argv could run: CommandRules::find_deny.
RuleMatch search_deny(std::span<const CompiledRule> rules, std::span<const std::string> argv,
                      const CommandPlace& place);

/// Why the first script that the argv would hand to a shell, through wrappers too, can't be read;
/// nothing where all can.
std::optional<ScriptRefusal> find_unreadable(std::span<const std::string> argv);

}  // namespace sortie
