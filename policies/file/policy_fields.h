#pragma once

#include <string>

#include "core/config/fields.h"
#include "policies/file/policy_values.h"

namespace sortie {

/// The table of the policy file's keys, over the draft: a file replaces the scalars that are there
/// already, and appends to the lists.
/// @param file  the file's name in messages and in the rules' places
Fields policy_fields(PolicyDraft& draft, const std::string& file);

/// The list of `commands` (policy_rules.cpp); its rules are appended.
FieldValue command_rules_value(PolicyDraft& draft, const std::string& file);

/// The list of `tools` (policy_rules.cpp); its rules are appended.
FieldValue tool_rules_value(PolicyDraft& draft, const std::string& file);

}  // namespace sortie
