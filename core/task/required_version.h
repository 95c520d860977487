#pragma once

#include <string>
#include <string_view>

#include "core/config/fields.h"

namespace sortie {

/// The form of one condition on a version: ">=1.0", "<2", "1.2.3".
inline constexpr const char* kVersionCondition =
    "(>=|<=|>|<|=)?(0|[1-9][0-9]{0,5})(\\.(0|[1-9][0-9]{0,5})){0,2}";

/// Whether a version meets all conditions. Only the parts that a condition has are compared, so that
/// "1" and "<=1" are met by 1.9, and ">1" by 2.0 alone.
/// @param conditions  as kVersionCondition, with blanks between them; "" is always met
/// @param version     "1.4.0"
bool meets(std::string_view conditions, std::string_view version);

/// The task's `requires`. It is an error if this sortie does not meet it.
FieldValue required_version_value(std::string& target);

}  // namespace sortie
