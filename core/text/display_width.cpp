#include "core/text/display_width.h"

#include <algorithm>

#include "core/text/code_point.h"

namespace sortie {
namespace {

constexpr CodePointRange kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x23F0, 0x23F0},   {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x267F, 0x267F},   {0x2693, 0x2693},   {0x26A1, 0x26A1},
    {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26CE, 0x26CE},
    {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
    {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},
    {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
    {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},
    {0x3041, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x16FE0, 0x18AFF}, {0x1AFF0, 0x1B2FF}, {0x1F004, 0x1F004},
    {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A}, {0x1F200, 0x1F320},
    {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C}, {0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA},
    {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4}, {0x1F3F8, 0x1F43E},
    {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D}, {0x1F54B, 0x1F567},
    {0x1F57A, 0x1F57A}, {0x1F595, 0x1F596}, {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F},
    {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC}, {0x1F6D0, 0x1F6D7}, {0x1F6DC, 0x1F6EC},
    {0x1F6F4, 0x1F6FC}, {0x1F7E0, 0x1F7F0}, {0x1F90C, 0x1F9FF}, {0x1FA70, 0x1FAFF},
    {0x20000, 0x3FFFD}};

constexpr CodePointRange kNoColumn[] = {
    {0x00AD, 0x00AD},  {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},   {0x05BF, 0x05BF},
    {0x05C1, 0x05C2},  {0x05C4, 0x05C5}, {0x05C7, 0x05C7}, {0x0610, 0x061C},   {0x064B, 0x065F},
    {0x0670, 0x0670},  {0x06D6, 0x06DD}, {0x06DF, 0x06E4}, {0x06E7, 0x06E8},   {0x06EA, 0x06ED},
    {0x0711, 0x0711},  {0x0730, 0x074A}, {0x0900, 0x0902}, {0x093A, 0x093A},   {0x093C, 0x093C},
    {0x0941, 0x0948},  {0x094D, 0x094D}, {0x0951, 0x0957}, {0x0E31, 0x0E31},   {0x0E34, 0x0E3A},
    {0x0E47, 0x0E4E},  {0x1160, 0x11FF}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},   {0x200B, 0x200F},
    {0x2028, 0x202E},  {0x2060, 0x2069}, {0x20D0, 0x20F0}, {0x302A, 0x302D},   {0x3099, 0x309A},
    {0xFE00, 0xFE0F},  {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0x1F3FB, 0x1F3FF}, {0xE0001, 0xE007F},
    {0xE0100, 0xE01EF}};

std::size_t columns_of(const Character& character) noexcept {
  if (character.length == 1) return 1;
  if (is_in(character.code, kNoColumn)) return 0;
  return is_in(character.code, kWide) ? 2 : 1;
}

/// The bytes of the longest beginning that takes at most that many columns.
std::size_t fitting_bytes(std::string_view text, std::size_t columns) noexcept {
  std::size_t used = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const Character next = character_at(text.substr(at));
    used += columns_of(next);
    if (used > columns) break;
    at += next.length;
  }
  return at;
}

}  // namespace

std::size_t display_columns(std::string_view text) noexcept {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character next = character_at(text);
    columns += columns_of(next);
    text.remove_prefix(next.length);
  }
  return columns;
}

std::string cut_to_columns(std::string_view text, std::size_t columns) {
  if (fitting_bytes(text, columns) == text.size()) return std::string(text);
  if (columns == 0) return {};
  return std::string(text.substr(0, fitting_bytes(text, columns - 1))) + "…";
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  if (columns == 0) return {std::string(text)};
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::size_t end = std::max(fitting_bytes(text, columns), character_at(text).length);
    std::size_t next = end;
    if (end < text.size()) {
      const std::size_t blank = text.rfind(' ', end);
      if (blank != std::string_view::npos && blank > 0) {
        end = blank;
        next = blank + 1;
      }
    }
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(next, text.size()));
  }
  if (lines.empty()) lines.emplace_back();
  return lines;
}

std::string with_thousands(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string words_of_count(std::int64_t count) {
  return count < 0 ? "unknown" : with_thousands(count);
}

}  // namespace sortie
