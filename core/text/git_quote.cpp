#include "core/text/git_quote.h"

#include <cstdio>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kEscaped = "\a\b\t\n\v\f\r\"\\";
constexpr std::string_view kLetters = "abtnvfr\"\\";

/// @param first_octal  the first byte after the control bytes that is written as a number
std::string quoted_from(std::string_view path, unsigned first_octal) {
  std::string quoted;
  bool needed = false;
  for (const char letter : path) {
    const auto escape = kEscaped.find(letter);
    const auto byte = static_cast<unsigned char>(letter);
    const bool octal = byte < 0x20 || byte == 0x7f || byte >= first_octal;
    needed = needed || escape != std::string_view::npos || octal;
    if (escape != std::string_view::npos) {
      quoted += '\\';
      quoted += kLetters[escape];
    } else if (octal) {
      char text[8];
      std::snprintf(text, sizeof text, "\\%03o", byte);
      quoted += text;
    } else {
      quoted += letter;
    }
  }
  return needed ? '"' + quoted + '"' : std::string(path);
}

}  // namespace

std::string git_quoted(std::string_view path) { return quoted_from(path, 0x80); }

std::string git_quoted_for_reading(std::string_view path) {
  return quoted_from(path, is_utf8(path) ? 0x100 : 0x80);
}

}  // namespace sortie
