#include "core/text/text.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

namespace sortie {
namespace {

/// A text of so many bytes has pages of its own from the system …
constexpr std::size_t kLongText = 1u << 20;
/// … and gets this much room at once.
constexpr std::size_t kLongTextRoom = 16u << 20;

/// Length of the well-formed character at the front (RFC 3629 §4), or 0. If it is 0, `bad` is the
/// length of the maximal ill-formed part that one U+FFFD replaces (Unicode 15 §3.9).
std::size_t character_length(std::string_view bytes, std::size_t& bad) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = at(0);
  bad = 1;
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (first == 0xE0) low = 0xA0;
  if (first == 0xED) high = 0x9F;  // no surrogates
  if (first == 0xF0) low = 0x90;
  if (first == 0xF4) high = 0x8F;
  for (std::size_t i = 1; i < length; ++i) {
    if (i >= bytes.size() || at(i) < low || at(i) > high) {
      bad = i;
      return 0;
    }
    low = 0x80;
    high = 0xBF;
  }
  return length;
}

bool is_continuation(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string_view without(std::string_view blanks, std::string_view text) noexcept {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Characters of keys, tokens and their encodings.
bool is_in_word(char c) noexcept {
  return is_ascii_alphanumeric(c) ||
         std::string_view("-_.~+/=%:").find(c) != std::string_view::npos;
}

}  // namespace

std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = ascii_lower(c);
  return lower;
}

std::string_view without_blanks(std::string_view text) noexcept { return without(" \t", text); }

std::string_view trimmed(std::string_view text) noexcept { return without(" \t\r\n", text); }

namespace {

bool begins_with_eight_ascii(std::string_view bytes) noexcept {
  std::uint64_t eight = 0;
  if (bytes.size() < sizeof eight) return false;
  std::memcpy(&eight, bytes.data(), sizeof eight);
  return (eight & 0x8080808080808080u) == 0;
}

/// As many as the compiler turns into few steps.
constexpr std::size_t kManyBytes = 64;

bool begins_with_many_ascii(std::string_view bytes) noexcept {
  if (bytes.size() < kManyBytes) return false;
  unsigned char all = 0;
  for (std::size_t i = 0; i < kManyBytes; ++i)
    all = static_cast<unsigned char>(all | static_cast<unsigned char>(bytes[i]));
  return all < 0x80;
}

}  // namespace

bool is_utf8(std::string_view bytes) noexcept {
  std::size_t bad = 0;
  while (!bytes.empty()) {
    // Most text is ASCII: many bytes at once.
    if (begins_with_eight_ascii(bytes)) {
      bytes.remove_prefix(sizeof(std::uint64_t));
      while (begins_with_many_ascii(bytes)) bytes.remove_prefix(kManyBytes);
      continue;
    }
    const std::size_t length = character_length(bytes, bad);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

bool has_byte_between(std::string_view bytes, unsigned char first, unsigned char last) noexcept {
  const auto range = static_cast<unsigned char>(last - first);
  // A part at a time, without a branch for each byte: so the compiler compares many at once.
  constexpr std::size_t kPart = 4096;
  while (!bytes.empty()) {
    unsigned char found = 0;
    for (const char byte : bytes.substr(0, kPart))
      found |= static_cast<unsigned char>(static_cast<unsigned char>(byte - first) <= range);
    if (found != 0) return true;
    bytes.remove_prefix(std::min(bytes.size(), kPart));
  }
  return false;
}

std::string repair_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  std::size_t bad = 0;
  while (!bytes.empty()) {
    const std::size_t length = character_length(bytes, bad);
    if (length == 0) {
      text += "\xEF\xBF\xBD";
      bytes.remove_prefix(bad);
    } else {
      text.append(bytes.substr(0, length));
      bytes.remove_prefix(length);
    }
  }
  return text;
}

std::string_view utf8_prefix(std::string_view text, std::size_t max_bytes) noexcept {
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes;
  while (end > 0 && is_continuation(text[end])) --end;
  return text.substr(0, end);
}

std::string_view utf8_suffix(std::string_view text, std::size_t max_bytes) noexcept {
  if (text.size() <= max_bytes) return text;
  std::size_t begin = text.size() - max_bytes;
  while (begin < text.size() && is_continuation(text[begin])) ++begin;
  return text.substr(begin);
}

void grow_by(std::string& text, std::string_view more) {
  const std::size_t needed = text.size() + more.size();
  if (needed > text.capacity())
    text.reserve(needed < kLongText ? 2 * needed : std::max(kLongTextRoom, 2 * needed));
  text += more;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Row i of the table holds the distances of a's first i bytes to every prefix of b.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const auto& candidate : candidates) {
    const std::size_t longest = std::max(name.size(), candidate.size());
    const std::size_t distance = edit_distance(name, candidate);
    if (distance <= std::max<std::size_t>(1, longest / 3) && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

namespace {

/// Characters that control a terminal or the direction of text: C0, DEL, C1 (U+0080 to U+009F), and
/// U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069.
bool is_directing(std::string_view character) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return at(0) < 0x20 || at(0) == 0x7F;
  if (character.size() == 2) return at(0) == 0xC2 && at(1) < 0xA0;
  if (character.size() != 3 || at(0) != 0xE2) return false;
  if (at(1) == 0x80) return at(2) == 0x8E || at(2) == 0x8F || (at(2) >= 0xA8 && at(2) <= 0xAE);
  return at(1) == 0x81 && at(2) >= 0xA6 && at(2) <= 0xA9;
}

std::string without_directions(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  std::size_t bad = 0;
  while (!text.empty()) {
    const std::size_t length = character_length(text, bad);
    const std::string_view character = text.substr(0, length);
    if (length == 0)
      line += "\xEF\xBF\xBD";
    else if (is_directing(character))
      line += ' ';
    else
      line += character;
    text.remove_prefix(length == 0 ? bad : length);
  }
  return line;
}

}  // namespace

std::string one_line(std::string_view text, std::size_t max_bytes) {
  std::string line = without_directions(utf8_prefix(text, max_bytes));
  if (text.size() > max_bytes) line += "…";
  return line;
}

std::string one_line_of_words(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return one_line(text, max_bytes);
  std::size_t end = utf8_prefix(text, max_bytes).size();
  if (is_in_word(text[end]))
    while (end > 0 && is_in_word(text[end - 1])) --end;
  return one_line(text.substr(0, end), end) + "…";
}

std::string in_quotes(std::string_view text, std::size_t max_bytes) {
  return "'" + one_line(text, max_bytes) + "'";
}

}  // namespace sortie
