#include "core/text/untrusted.h"

#include <array>

#include "core/text/code_point.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kTag = "untrusted";

/// Characters that look like '<': single angle quotation marks and brackets, small and full width
/// signs.
bool looks_like_opening(char32_t code) noexcept {
  constexpr std::array<char32_t, 8> kOpenings = {'<',    0x2039, 0x2329, 0x276E,
                                                 0x27E8, 0x3008, 0xFE64, 0xFF1C};
  for (const char32_t one : kOpenings)
    if (one == code) return true;
  return false;
}

/// Slashes, white space, control characters, invisible characters (Unicode's
/// Default_Ignorable_Code_Point and White_Space), and the replacement for invalid bytes.
bool is_passed_over(char32_t code) noexcept {
  constexpr CodePointRange kRanges[] = {
      {0x00, 0x20},       {'/', '/'},         {'\\', '\\'},     {0x7F, 0xA0},     {0xAD, 0xAD},
      {0x34F, 0x34F},     {0x61C, 0x61C},     {0x115F, 0x1160}, {0x1680, 0x1680}, {0x17B4, 0x17B5},
      {0x180B, 0x180F},   {0x2000, 0x200F},   {0x2028, 0x202F}, {0x2044, 0x2044}, {0x205F, 0x206F},
      {0x2215, 0x2215},   {0x2800, 0x2800},   {0x29F8, 0x29F8}, {0x3000, 0x3000}, {0x3164, 0x3164},
      {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFF0F, 0xFF0F}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFD},
      {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
  };
  return is_in(code, kRanges);
}

/// The lower-case letter, with full width letters and the long s as plain ones.
char32_t folded(char32_t code) noexcept {
  if (code >= 0xFF21 && code <= 0xFF3A) return code - 0xFF21 + 'a';
  if (code >= 0xFF41 && code <= 0xFF5A) return code - 0xFF41 + 'a';
  if (code == 0x17F) return 's';
  return code >= 'A' && code <= 'Z' ? code - 'A' + 'a' : code;
}

/// Whether the text from `at` on, after a '<', reads as the tag's name.
bool reads_as(std::string_view tag, std::string_view text, std::size_t at) noexcept {
  std::size_t known = 0;
  while (known < tag.size() && at < text.size()) {
    const Character next = character_at(text.substr(at));
    if (folded(next.code) == static_cast<unsigned char>(tag[known]))
      ++known;
    else if (!is_passed_over(next.code))
      return false;
    at += next.length;
  }
  return known == tag.size();
}

std::string attribute(std::string_view text) {
  std::string escaped;
  for (const char c : one_line(text)) {
    if (c == '"')
      escaped += "&quot;";
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '&')
      escaped += "&amp;";
    else
      escaped += c;
  }
  return escaped;
}

}  // namespace

std::string without_tag(std::string_view bytes, std::string_view tag) {
  const std::string text = repair_utf8(bytes);
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character next = character_at(std::string_view(text).substr(at));
    const std::size_t end = at + next.length;
    if (looks_like_opening(next.code) && reads_as(tag, text, end))
      out += "&lt;";
    else
      out.append(text, at, next.length);
    at = end;
  }
  return out;
}

std::string untrusted(std::string_view name, std::string_view text) {
  return "<untrusted name=\"" + attribute(name) + "\">" + without_tag(text, kTag) + "</untrusted>";
}

}  // namespace sortie
