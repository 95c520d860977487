#pragma once

#include <string>
#include <string_view>

namespace sortie {

/// What protocols and file formats mean by letters and digits: those of ASCII, in every locale.
constexpr bool is_ascii_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_ascii_alphanumeric(char c) noexcept {
  return is_ascii_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}
constexpr char ascii_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
std::string ascii_lower(std::string_view text);

/// The text without the spaces and tabs around it (RFC 9110 §5.6.3's optional whitespace).
std::string_view without_blanks(std::string_view text) noexcept;

}  // namespace sortie
