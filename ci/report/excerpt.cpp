#include "ci/report/excerpt.h"

#include <algorithm>

#include "core/text/code_point.h"
#include "core/text/deceptive.h"
#include "core/text/terminal_text.h"
#include "core/text/text.h"

namespace sortie {
namespace {

std::string with_deceptive_named(std::string text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; })) return text;
  std::string out;
  std::string_view rest = text;
  while (!rest.empty()) {
    const Character next = character_at(rest);
    if (is_deceptive(next.code))
      out += named_character(next.code);
    else
      out += rest.substr(0, next.length);
    rest.remove_prefix(next.length);
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
  return with_deceptive_named(repair_utf8(out));
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
