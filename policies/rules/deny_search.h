#pragma once

#include <optional>
#include <span>
#include <string>

#include "policies/rules/compiled_rule.h"
#include "policies/shell/script.h"

namespace sortie {

/// The strongest forbid or deny rule among all that the argv could run: CommandRules::find_deny.
RuleMatch search_deny(std::span<const CompiledRule> rules, std::span<const std::string> argv,
                      const CommandPlace& place);

/// Why the first script that the argv would hand to a shell, through wrappers too, can't be read;
/// nothing where all can.
std::optional<ScriptRefusal> find_unreadable(std::span<const std::string> argv);

}  // namespace sortie
