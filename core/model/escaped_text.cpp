#include "core/model/escaped_text.h"

#include <algorithm>

#include "core/json/json.h"

namespace sortie {

namespace {

constexpr std::size_t kPartBytes = 64u << 10;

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

/// The end of a part that can be parsed by itself, after at least `at_least` bytes if there are so
/// many: after a plain ASCII character, since escapes may come in pairs and other characters have
/// several bytes.
std::size_t part_end(std::string_view escaped, std::size_t at_least) {
  std::size_t end = at_least;
  while (end < escaped.size()) {
    const bool plain = end >= 8 && is_ascii(escaped[end - 1]) &&
                       escaped.substr(end - 8, 8).find('\\') == std::string_view::npos;
    if (plain) return end;
    ++end;
  }
  return escaped.size();
}

}  // namespace

std::string escaped_text(std::string_view text) {
  std::string quoted;
  write_json_string(text, quoted);
  return quoted.substr(1, quoted.size() - 2);
}

std::size_t escaped_end(std::string_view text, std::size_t from) noexcept {
  // Searching for one byte is many times faster than searching for either of two.
  for (std::size_t end = from; (end = text.find('"', end)) != std::string_view::npos; ++end) {
    std::size_t begin = end;
    while (begin > from && text[begin - 1] == '\\') --begin;
    if ((end - begin) % 2 == 0) return end;
  }
  return std::string_view::npos;
}

std::string unescaped_text(std::string_view escaped) {
  std::string text;
  text.reserve(escaped.size());
  std::string part;
  while (!escaped.empty()) {
    const std::size_t end = part_end(escaped, kPartBytes);
    part = '"';
    part += escaped.substr(0, end);
    part += '"';
    text += parse_json(part).text();
    escaped.remove_prefix(end);
  }
  return text;
}

}  // namespace sortie
