#pragma once

#include <cstddef>
#include <string_view>

namespace sortie {

/// Reads a regular expression of sed or awk, or the replacement behind one, up to the delimiter that
/// ends it, in one line. Programs disagree on delimiters and backslashes in brackets: what they may
/// read differently is refused.
/// @param at  the expression's first byte
/// @return the delimiter's index; npos if the end is not certain
std::size_t end_of_regex(std::string_view text, std::size_t at, char delimiter);

/// The same for text in which a bracket means nothing.
std::size_t end_of_text(std::string_view text, std::size_t at, char delimiter);

}  // namespace sortie
