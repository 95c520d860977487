#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "core/json/json_value.h"

namespace sortie {

/// parse_json() for texts as programs write them, in a fraction of the time: what is read is equal.
///
/// Nothing where the text is no such JSON, or may be none: an error, duplicate names, a number with
/// an exponent or of many digits, nesting or a number of values beyond the limits. parse_json()
/// then reads it once more, and alone decides whether it is JSON and what is wrong with it.
///
/// @param text        UTF-8, which is not checked here
/// @param max_depth   nesting beyond it is for parse_json()
/// @param max_values  the same of the number of values
std::optional<Json> parse_plain_json(std::string_view text, std::size_t max_depth,
                                     std::size_t max_values);

/// Whether the text, UTF-8, is one JSON value for certain; names may repeat. False says nothing.
bool is_plain_json(std::string_view text);

}  // namespace sortie
