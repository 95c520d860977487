#include "ci/report/excerpt.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/text/terminal_text.h"
#include "core/text/text.h"

namespace sortie {
namespace {

struct CodePoints {
  unsigned first;
  unsigned last;
};

/// Characters that hide text or change its direction (Unicode 15, Bidi_Control and
/// Default_Ignorable_Code_Point), and line ends that editors disagree on. The joiners U+200C and
/// U+200D stay: scripts and emoji need them.
constexpr std::array<CodePoints, 10> kTricky = {{{0x80, 0x9f},
                                                 {0xad, 0xad},
                                                 {0x61c, 0x61c},
                                                 {0x180e, 0x180e},
                                                 {0x200b, 0x200b},
                                                 {0x200e, 0x200f},
                                                 {0x2028, 0x202e},
                                                 {0x2060, 0x206f},
                                                 {0xfeff, 0xfeff},
                                                 {0xe0000, 0xe007f}}};

/// The character at the beginning of valid UTF-8. @param length  of it in bytes
unsigned code_point_at(std::string_view text, std::size_t& length) {
  const auto first = static_cast<unsigned char>(text[0]);
  length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length == 1 || length > text.size()) return first;
  unsigned value = first & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i)
    value = value << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
  return value;
}

bool is_tricky(unsigned code_point) {
  return std::any_of(kTricky.begin(), kTricky.end(), [code_point](const CodePoints& each) {
    return each.first <= code_point && code_point <= each.last;
  });
}

std::string with_tricks_named(std::string text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; })) return text;
  std::string out;
  std::string_view rest = text;
  while (!rest.empty()) {
    std::size_t length = 1;
    const unsigned code_point = code_point_at(rest, length);
    length = std::min(length, rest.size());
    if (code_point >= 0x80 && is_tricky(code_point)) {
      char name[16];
      std::snprintf(name, sizeof name, "[U+%04X]", code_point);
      out += name;
    } else {
      out += rest.substr(0, length);
    }
    rest.remove_prefix(length);
  }
  return out;
}

/// Without a part of a line at its end, if that leaves enough.
std::string_view up_to_line_end(std::string_view head) {
  const auto end = head.rfind('\n');
  return end != head.npos && end >= head.size() / 2 ? head.substr(0, end + 1) : head;
}

std::string_view from_line_start(std::string_view tail) {
  const auto end = tail.find('\n');
  return end != tail.npos && end < tail.size() / 2 ? tail.substr(end + 1) : tail;
}

}  // namespace

std::string visible_text(std::string_view text) {
  TerminalText plain;
  std::string out = plain.feed(text);
  out += plain.finish();
  return with_tricks_named(repair_utf8(out));
}

std::string visible_line(std::string_view text, std::size_t max_bytes) {
  // Much more than is shown need not be read.
  return one_line(visible_text(utf8_prefix(text, max_bytes * 2)), max_bytes);
}

Excerpt excerpt_of(std::string_view text, const ExcerptSize& size, std::uint64_t between) {
  if (between == 0 && text.size() <= size.head + size.tail) return {.head = visible_text(text)};
  // Of a text that lacks its middle, the middle of what is there is not far from the gap.
  const std::size_t half = between == 0 ? text.size() : text.size() / 2;
  const std::string_view head = up_to_line_end(utf8_prefix(text, std::min(size.head, half)));
  const std::string_view tail = from_line_start(utf8_suffix(text.substr(head.size()), size.tail));
  return {visible_text(head), visible_text(tail),
          text.size() - head.size() - tail.size() + between};
}

}  // namespace sortie
