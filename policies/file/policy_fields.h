#pragma once

#include <string>

#include "core/config/fields.h"
#include "policies/file/policy_values.h"

namespace sortie {

/// The table of the policy file's keys, over the draft: what is there already is replaced where it
/// is a scalar, and added to where it is a list.
/// @param file  what the rules' places call it
Fields policy_fields(PolicyDraft& draft, const std::string& file);

}  // namespace sortie
