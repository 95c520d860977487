#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace sortie {

/// One character of a text in UTF-8 (RFC 3629).
struct Character {
  char32_t code = 0;
  std::size_t length = 1;  ///< bytes
};

/// The character at the beginning of a text that is not empty. A byte that begins none, and one
/// whose character is cut off by the end of the text, is a character of its own.
inline Character character_at(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0xC2 || first > 0xF4 ? 1
                             : first < 0xE0               ? 2
                             : first < 0xF0               ? 3
                                                          : 4;
  if (length == 1 || length > text.size()) return {first, 1};
  char32_t code = first & (0x7FU >> length);
  for (const char c : text.substr(1, length - 1))
    code = code << 6U | (static_cast<unsigned char>(c) & 0x3FU);
  return {code, length};
}

struct CodePointRange {
  char32_t first;
  char32_t last;
};

/// @param ranges  in ascending order
bool is_in(char32_t code, std::span<const CodePointRange> ranges) noexcept;

}  // namespace sortie
