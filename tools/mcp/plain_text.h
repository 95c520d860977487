#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/json/json.h"

namespace sortie::mcp {

/// What a server says, without what a reader does not see: control characters and the sequences
/// that they begin (tab, newline and carriage return stay), marks that direct writing, and
/// Unicode's tags. Bytes that are not UTF-8 become U+FFFD.
std::string plain_text(std::string_view text);

/// A schema with plain_text() in its titles, descriptions and comments; nothing where anything else
/// of it would have to change, which then would be another schema.
std::optional<Json> plain_schema(const Json& schema);

}  // namespace sortie::mcp
