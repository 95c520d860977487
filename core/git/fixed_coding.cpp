#include "core/git/fixed_coding.h"

#include "core/text/code_point.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using Order = FixedCoding::Order;

constexpr char32_t kMark = 0xFEFF;
constexpr char32_t kHighest = 0x10FFFF;

bool is_surrogate(char32_t code) { return code >= 0xD800 && code <= 0xDFFF; }

char32_t unit_at(const FixedCoding& coding, std::string_view bytes) {
  char32_t value = 0;
  for (int i = 0; i < coding.unit; ++i) {
    const int at = coding.order == Order::big ? i : coding.unit - 1 - i;
    value = value << 8U | static_cast<unsigned char>(bytes[static_cast<std::size_t>(at)]);
  }
  return value;
}

void append_unit(const FixedCoding& coding, char32_t value, std::string& bytes) {
  for (int i = 0; i < coding.unit; ++i) {
    const int shift = 8 * (coding.order == Order::big ? coding.unit - 1 - i : i);
    bytes += static_cast<char>(value >> shift & 0xFFU);
  }
}

void append_utf8(char32_t code, std::string& text) {
  const auto trailing = [&](int shift) {
    text += static_cast<char>(0x80U | (code >> shift & 0x3FU));
  };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0U | code >> 6U);
    trailing(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0U | code >> 12U);
    trailing(6);
    trailing(0);
  } else {
    text += static_cast<char>(0xF0U | code >> 18U);
    trailing(12);
    trailing(6);
    trailing(0);
  }
}

/// Takes the next character off; nothing where there is none.
std::optional<char32_t> take_character(const FixedCoding& coding, std::string_view& bytes) {
  const auto unit = static_cast<std::size_t>(coding.unit);
  if (bytes.size() < unit) return std::nullopt;
  const char32_t first = unit_at(coding, bytes);
  bytes.remove_prefix(unit);
  if (!is_surrogate(first)) return first <= kHighest ? std::optional(first) : std::nullopt;
  if (unit != 2 || first >= 0xDC00 || bytes.size() < unit) return std::nullopt;
  const char32_t second = unit_at(coding, bytes);
  if (second < 0xDC00 || second > 0xDFFF) return std::nullopt;
  bytes.remove_prefix(unit);
  return 0x10000 + ((first - 0xD800) << 10U) + (second - 0xDC00);
}

/// Takes a byte order mark off. @return the coding with its order
FixedCoding after_mark(FixedCoding coding, std::string_view& bytes) {
  for (const Order order : {Order::little, Order::big}) {
    const FixedCoding tried{.unit = coding.unit, .order = order};
    std::string mark;
    append_unit(tried, kMark, mark);
    if (!bytes.starts_with(mark)) continue;
    bytes.remove_prefix(mark.size());
    return tried;
  }
  return coding;
}

}  // namespace

std::optional<FixedCoding> fixed_coding(std::string_view name) {
  if (is_one_of(name, {"iso-8859-1", "iso8859-1", "latin1"})) return FixedCoding{};
  FixedCoding coding;
  if (name.starts_with("utf16"))
    coding.unit = 2;
  else if (name.starts_with("utf32"))
    coding.unit = 4;
  else
    return std::nullopt;
  const std::string_view order = name.substr(5);
  if (order == "be")
    coding.order = Order::big;
  else if (order.empty())
    coding.marked = true;
  else if (order != "le")
    return std::nullopt;
  return coding;
}

std::optional<std::string> utf8_of(const FixedCoding& coding, std::string_view bytes) {
  const FixedCoding read = coding.marked ? after_mark(coding, bytes) : coding;
  std::string text;
  while (!bytes.empty()) {
    const auto code = take_character(read, bytes);
    if (!code) return std::nullopt;
    append_utf8(*code, text);
  }
  return text;
}

std::optional<std::string> encoded_in(const FixedCoding& coding, std::string_view text) {
  if (!is_utf8(text)) return std::nullopt;
  std::string bytes;
  if (coding.marked) append_unit(coding, kMark, bytes);
  while (!text.empty()) {
    const Character character = character_at(text);
    text.remove_prefix(character.length);
    if (coding.unit == 1 && character.code > 0xFF) return std::nullopt;
    if (coding.unit == 2 && character.code > 0xFFFF) {
      const char32_t rest = character.code - 0x10000;
      append_unit(coding, 0xD800 + (rest >> 10U), bytes);
      append_unit(coding, 0xDC00 + (rest & 0x3FFU), bytes);
    } else {
      append_unit(coding, character.code, bytes);
    }
  }
  return bytes;
}

}  // namespace sortie
