#pragma once

#include <string>
#include <string_view>

#include "core/json/json.h"

namespace sortie {

/// The value that a JSON pointer (RFC 6901) leads to, or null if there is none.
/// @param pointer  "" is the value itself
const Json* at_pointer(const Json& root, std::string_view pointer);

/// A member's name as part of a pointer: "a/b" → "a~1b".
std::string escape_pointer(std::string_view name);

/// A reference is a URI fragment: %-coded before it is a JSON pointer (RFC 6901 §6).
std::string percent_decoded(std::string_view text);

}  // namespace sortie
