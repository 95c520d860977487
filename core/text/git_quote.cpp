#include "core/text/git_quote.h"

#include <cstdio>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kEscaped = "\a\b\t\n\v\f\r\"\\";
constexpr std::string_view kLetters = "abtnvfr\"\\";

/// Bytes of the first character, in UTF-8; of other text at least the first byte.
std::size_t character_bytes(std::string_view text) noexcept {
  std::size_t length = 1;
  if (static_cast<unsigned char>(text.front()) < 0x80) return length;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80)
    ++length;
  return length;
}

/// @param is_octal  whether the bytes of a character are written as numbers
template <typename IsOctal>
std::string quoted_where(std::string_view path, const IsOctal& is_octal) {
  std::string quoted;
  bool needed = false;
  while (!path.empty()) {
    const std::size_t length = character_bytes(path);
    const std::string_view character = path.substr(0, length);
    path.remove_prefix(length);
    const auto escape = kEscaped.find(character.front());
    const bool octal = is_octal(character);
    needed = needed || escape != std::string_view::npos || octal;
    if (escape != std::string_view::npos) {
      quoted += '\\';
      quoted += kLetters[escape];
    } else if (octal) {
      for (const char letter : character) {
        char text[8];
        std::snprintf(text, sizeof text, "\\%03o", static_cast<unsigned char>(letter));
        quoted += text;
      }
    } else {
      quoted += character;
    }
  }
  return needed ? '"' + quoted + '"' : "";
}

}  // namespace

std::string git_quoted(std::string_view path) {
  const auto quoted = quoted_where(path, [](std::string_view character) {
    const auto byte = static_cast<unsigned char>(character.front());
    return byte < 0x20 || byte >= 0x7f;
  });
  return quoted.empty() ? std::string(path) : quoted;
}

std::string git_quoted_for_reading(std::string_view path) {
  const bool readable = is_utf8(path);
  const auto quoted = quoted_where(path, [readable](std::string_view character) {
    const auto byte = static_cast<unsigned char>(character.front());
    return readable ? one_line(character) != character : byte < 0x20 || byte >= 0x7f;
  });
  return quoted.empty() ? std::string(path) : quoted;
}

std::optional<std::string> take_git_quoted(std::string_view& text) {
  if (!text.starts_with('"')) return std::nullopt;
  std::string name;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return name;
    }
    if (text[i] != '\\') {
      name += text[i];
      continue;
    }
    if (++i >= text.size()) return std::nullopt;
    if (const auto letter = kLetters.find(text[i]); letter != std::string_view::npos) {
      name += kEscaped[letter];
      continue;
    }
    const std::string_view digits = text.substr(i, 3);
    const bool octal = digits.size() == 3 && digits[0] <= '3' &&
                       digits.find_first_not_of("01234567") == std::string_view::npos;
    if (!octal) return std::nullopt;
    name += static_cast<char>((digits[0] - '0') << 6 | (digits[1] - '0') << 3 | (digits[2] - '0'));
    i += 2;
  }
  return std::nullopt;
}

std::optional<std::string> git_unquoted(std::string_view quoted) {
  std::string_view rest = quoted;
  const auto name = take_git_quoted(rest);
  const bool whole = name && rest.empty();
  if (!whole || (git_quoted(*name) != quoted && git_quoted_for_reading(*name) != quoted))
    return std::nullopt;
  return name;
}

}  // namespace sortie
