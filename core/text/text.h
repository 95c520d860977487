#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// ASCII letters and digits in every locale, as protocols and file formats define them.
constexpr bool is_ascii_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_ascii_alphanumeric(char c) noexcept {
  return is_ascii_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}
constexpr char ascii_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
std::string ascii_lower(std::string_view text);

/// A space or a tab.
constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }
/// The text without the spaces and tabs around it (RFC 9110 §5.6.3's optional whitespace).
std::string_view without_blanks(std::string_view text) noexcept;
/// The text without the spaces, tabs and line ends around it.
std::string_view trimmed(std::string_view text) noexcept;

/// Whether the text is in a list of names.
template <typename List>
bool is_one_of(std::string_view text, const List& names) {
  return std::find(std::begin(names), std::end(names), text) != std::end(names);
}
inline bool is_one_of(std::string_view text, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

/// The texts in order, with `separator` between them.
/// @param texts    a range
/// @param text_of  a member or function that gives an element's text; default: the element itself
template <typename Texts, typename TextOf = std::identity>
std::string joined(const Texts& texts, std::string_view separator, TextOf text_of = {}) {
  std::string all;
  bool first = true;
  for (const auto& each : texts) {
    if (!first) all += separator;
    first = false;
    all += std::invoke(text_of, each);
  }
  return all;
}

/// The bytes as valid UTF-8 (RFC 3629): each maximal bad sequence becomes one U+FFFD.
std::string repair_utf8(std::string_view bytes);
bool is_utf8(std::string_view bytes) noexcept;

/// Whether one of the bytes lies from first to last.
bool has_byte_between(std::string_view bytes, unsigned char first, unsigned char last) noexcept;

/// The longest prefix of at most `max_bytes` that does not end inside a UTF-8 character.
std::string_view utf8_prefix(std::string_view text, std::size_t max_bytes) noexcept;
std::string_view utf8_suffix(std::string_view text, std::size_t max_bytes) noexcept;

/// Appends to a text that may grow to megabytes. Past 1 MiB it reserves much more, so that it is
/// rarely copied: reserved room that is never written takes no memory.
void grow_by(std::string& text, std::string_view more);

/// Lines without their LF; a final newline does not make an empty last line.
std::vector<std::string_view> split_lines(std::string_view text);
/// Not for a temporary string, which would be destroyed before its lines are read.
template <std::same_as<std::string> Text>
std::vector<std::string_view> split_lines(Text&& text) = delete;

/// The number of bytes to insert, delete, change or swap with their neighbour to get from one text
/// to the other, each at most once (Damerau and Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate that a mistyped name most likely meant (edit distance, at most a third of its
/// length), or "" if none is close.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// One line for people: control bytes as spaces, cut with "…" past max_bytes.
std::string one_line(std::string_view text, std::size_t max_bytes = 160);
/// The same, but never cut inside a word: a redactor doesn't recognise half a key.
std::string one_line_of_words(std::string_view text, std::size_t max_bytes);
/// A name or a line for a message: one line in single quotes, cut past max_bytes.
std::string in_quotes(std::string_view text, std::size_t max_bytes = 60);

}  // namespace sortie
