#pragma once

#include <string_view>

#include "core/json/json.h"

namespace sortie {

/// Name of the keyword that stands for `pattern` in what translate_schema makes: the text is
/// matched by RE2, not by std::regex, whose time and stack have no bound.
inline constexpr std::string_view kPatternKeyword = "sortie-pattern";

/// Longest name that a `patternProperties` pattern is matched against.
inline constexpr std::size_t kMaxPatternedName = 256;

/// Rewrites a schema of draft 2020-12, draft 7 or OpenAPI 3.x as draft 7 with only the keywords
/// that say something about validity. All that is referred to stands in `definitions`.
///
/// @throws InputError  an unknown keyword, a reference that leads nowhere, one that leads only
///                     back to itself, a keyword of the wrong shape
Json translate_schema(const Json& root, std::string_view pointer);

}  // namespace sortie
