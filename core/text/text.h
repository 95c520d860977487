#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// The bytes as valid UTF-8 (RFC 3629): each maximal bad sequence becomes one U+FFFD.
std::string repair_utf8(std::string_view bytes);
bool is_utf8(std::string_view bytes) noexcept;

/// The longest prefix of at most `max_bytes` that does not end inside a UTF-8 character.
std::string_view utf8_prefix(std::string_view text, std::size_t max_bytes) noexcept;
std::string_view utf8_suffix(std::string_view text, std::size_t max_bytes) noexcept;

/// Appends to a text that may grow to megabytes piece by piece. Past 1 MiB it gets room for many
/// more, so that it is seldom copied: room that is never written to takes no memory.
void grow_by(std::string& text, std::string_view more);

/// Lines without their LF; a final newline does not make an empty last line.
std::vector<std::string_view> split_lines(std::string_view text);
/// Not of a string that is gone before its lines are read.
template <std::same_as<std::string> Text>
std::vector<std::string_view> split_lines(Text&& text) = delete;

/// How many bytes have to be put in, left out, changed or swapped with their neighbour to get from
/// one to the other, no byte touched twice (Damerau and Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate that a mistyped name most likely meant (edit distance, at most a third of its
/// length), or "" where none is near.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// One line for people: control bytes as spaces, cut with "…" past max_bytes.
std::string one_line(std::string_view text, std::size_t max_bytes = 160);

}  // namespace sortie
