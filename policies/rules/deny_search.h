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
