#pragma once

#include <string>
#include <vector>

#include "core/base/fields.h"
#include "policies/policy.h"

namespace sortie {

/// The list of `commands`; its rules are added to those there are.
/// @param file  what the rules' places call it
FieldValue command_rules_value(std::vector<CommandRule>& target, const std::string& file);

/// The list of `tools`, likewise.
FieldValue tool_rules_value(std::vector<ToolRule>& target, const std::string& file);

}  // namespace sortie
