#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// The columns that a line of UTF-8 takes on a terminal: 2 for each wide East Asian character and
/// emoji, 0 for marks that combine with the character before them, 1 for all others. For texts from
/// one_line(), without control characters.
///
/// Source: Unicode 15, EastAsianWidth.txt (W and F) and the general categories Mn, Me and Cf.
std::size_t display_columns(std::string_view text) noexcept;

/// The text, cut with "…" where it would take more columns than that.
std::string cut_to_columns(std::string_view text, std::size_t columns);

/// The text in lines of at most that many columns, broken between words where possible.
/// @param columns  0: one line, however long
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

/// "41,200": a number with its thousands marked.
std::string with_thousands(std::int64_t number);
/// The same for a count; "unknown" for one below 0.
std::string words_of_count(std::int64_t count);

}  // namespace sortie
