#include "tools/patch/blanks.h"

#include <algorithm>

namespace sortie::patch {
namespace {

bool is_ascii_blank(unsigned char c) { return c == ' ' || (c >= 0x09 && c <= 0x0d); }

/// A two- or three-byte character; 0 for anything else.
unsigned character(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  if (bytes.size() == 2 && (at(0) & 0xe0) == 0xc0) return (at(0) & 0x1fu) << 6 | (at(1) & 0x3fu);
  if (bytes.size() == 3 && (at(0) & 0xf0) == 0xe0)
    return (at(0) & 0x0fu) << 12 | (at(1) & 0x3fu) << 6 | (at(2) & 0x3fu);
  return 0;
}

bool is_wide_blank(unsigned c) {
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
         c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

/// Bytes of the blank at the text's beginning; 0 where there is none.
std::size_t blank_at_left(std::string_view text) {
  if (text.empty()) return 0;
  if (is_ascii_blank(static_cast<unsigned char>(text[0]))) return 1;
  for (std::size_t length = 2; length <= 3 && length <= text.size(); ++length)
    if (is_wide_blank(character(text.substr(0, length)))) return length;
  return 0;
}

std::size_t blank_at_right(std::string_view text) {
  if (text.empty()) return 0;
  if (is_ascii_blank(static_cast<unsigned char>(text.back()))) return 1;
  for (std::size_t length = 2; length <= 3 && length <= text.size(); ++length)
    if (is_wide_blank(character(text.substr(text.size() - length)))) return length;
  return 0;
}

/// The ASCII relative of a sign; 0 where it has none.
char folded(unsigned c) {
  if ((c >= 0x2010 && c <= 0x2015) || c == 0x2212) return '-';
  if (c >= 0x2018 && c <= 0x201b) return '\'';
  if (c >= 0x201c && c <= 0x201f) return '"';
  const bool space =
      c == 0xa0 || (c >= 0x2002 && c <= 0x200a) || c == 0x202f || c == 0x205f || c == 0x3000;
  return space ? ' ' : '\0';
}

}  // namespace

std::string_view trim_right(std::string_view text) {
  while (const std::size_t length = blank_at_right(text)) text.remove_suffix(length);
  return text;
}

std::string_view trim(std::string_view text) {
  while (const std::size_t length = blank_at_left(text)) text.remove_prefix(length);
  return trim_right(text);
}

std::string fold_signs(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const std::string_view bytes = text.substr(i, length);
    if (const char sign = folded(character(bytes)))
      out += sign;
    else
      out += bytes;
    i += bytes.size();
  }
  return out;
}

}  // namespace sortie::patch
