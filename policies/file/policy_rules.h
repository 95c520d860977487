#pragma once

#include <string>

#include "core/config/fields.h"
#include "policies/file/policy_values.h"

namespace sortie {

/// The list of `commands`; its rules are added to those there are.
/// @param file  what the rules' places call it
FieldValue command_rules_value(PolicyDraft& draft, const std::string& file);

/// The list of `tools`, likewise.
FieldValue tool_rules_value(PolicyDraft& draft, const std::string& file);

}  // namespace sortie
