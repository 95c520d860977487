#include "tools/patch/matcher.h"

#include <algorithm>
#include <functional>

namespace sortie::patch {
namespace {

bool is_ascii_blank(unsigned char c) { return c == ' ' || (c >= 0x09 && c <= 0x0d); }

/// The code point of a two- or three-byte character; 0 for anything else.
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

/// Length of the blank at the beginning of the text; 0 for none.
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

/// The ASCII replacement for a typographic character; 0 for none.
char folded(unsigned c) {
  if ((c >= 0x2010 && c <= 0x2015) || c == 0x2212) return '-';
  if (c >= 0x2018 && c <= 0x201b) return '\'';
  if (c >= 0x201c && c <= 0x201f) return '"';
  const bool space =
      c == 0xa0 || (c >= 0x2002 && c <= 0x200a) || c == 0x202f || c == 0x205f || c == 0x3000;
  return space ? ' ' : '\0';
}

constexpr Leniency kOrder[kLeniencies] = {Leniency::exact, Leniency::right_blanks,
                                          Leniency::outer_blanks, Leniency::signs};

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

/// The text with typographic dashes, quotes and spaces replaced by ASCII.
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

/// Calls `use` with the comparable form, which is copied only if signs are folded.
template <typename Use>
auto with_comparable(std::string_view line, Leniency leniency, Use use) {
  switch (leniency) {
    case Leniency::exact:
      return use(line);
    case Leniency::right_blanks:
      return use(trim_right(line));
    case Leniency::outer_blanks:
      return use(trim(line));
    case Leniency::signs:
      break;
  }
  const std::string_view trimmed = trim(line);
  if (is_ascii(trimmed)) return use(trimmed);
  const std::string folded = fold_signs(trimmed);
  return use(std::string_view(folded));
}

std::uint64_t hash(std::string_view line, Leniency leniency) {
  return with_comparable(line, leniency,
                         [](std::string_view text) { return std::hash<std::string_view>{}(text); });
}

bool equal(std::string_view a, std::string_view b, Leniency leniency) {
  return with_comparable(a, leniency, [&](std::string_view left) {
    return with_comparable(b, leniency, [&](std::string_view right) { return left == right; });
  });
}

/// For each beginning of the pattern, the length of the longest shorter one that also ends it
/// (Knuth, Morris and Pratt, "Fast pattern matching in strings", 1977).
template <typename Line>
std::vector<std::size_t> borders(const std::vector<Line>& pattern) {
  std::vector<std::size_t> lengths(pattern.size());
  for (std::size_t i = 1, length = 0; i < pattern.size(); ++i) {
    while (length > 0 && pattern[i] != pattern[length]) length = lengths[length - 1];
    if (pattern[i] == pattern[length]) ++length;
    lengths[i] = length;
  }
  return lengths;
}

/// The first accepted place at or after `from`. Always linear: a generated file may repeat one line
/// a million times.
template <typename Line, typename Accept>
std::optional<std::size_t> first_place(const std::vector<Line>& pattern,
                                       const std::vector<Line>& all, std::size_t from,
                                       Accept accept) {
  const auto lengths = borders(pattern);
  std::size_t matched = 0;
  for (std::size_t i = from; i < all.size(); ++i) {
    if (matched == 0) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(i);
      i = static_cast<std::size_t>(std::find(first, all.end(), pattern[0]) - all.begin());
      if (i == all.size()) break;
    }
    while (matched > 0 && all[i] != pattern[matched]) matched = lengths[matched - 1];
    if (all[i] == pattern[matched]) ++matched;
    if (matched < pattern.size()) continue;
    const std::size_t place = i + 1 - matched;
    if (accept(place)) return place;
    matched = lengths[matched - 1];
  }
  return std::nullopt;
}

/// An estimate of the number of lines, from the beginning of the text.
std::size_t about_how_many(std::string_view content) {
  const std::string_view part = content.substr(0, 16'384);
  const auto ends = static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
  return part.empty() ? 0 : (ends + 1) * (content.size() / part.size() + 1);
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

std::string comparable(std::string_view line, Leniency leniency) {
  return with_comparable(line, leniency, [](std::string_view text) { return std::string(text); });
}

FileLines::FileLines(std::string_view content) : content_(content) {
  lines_.reserve(about_how_many(content));
  bool first = true;
  std::size_t begin = 0;
  // The next LF and CR are searched only when passed, so that each byte is scanned once for each.
  std::size_t feed = content.find('\n');
  std::size_t carriage = content.find('\r');
  while (begin < content.size()) {
    if (feed < begin) feed = content.find('\n', begin);
    if (carriage < begin) carriage = content.find('\r', begin);
    const std::size_t end = std::min(feed, carriage);
    if (end == std::string_view::npos) {
      lines_.push_back(content.substr(begin));
      ended_ = false;
      return;
    }
    lines_.push_back(content.substr(begin, end - begin));
    const std::size_t length = content.substr(end).starts_with("\r\n") ? 2 : 1;
    if (first) line_end_ = content.substr(end, length);
    first = false;
    begin = end + length;
  }
}

std::size_t FileLines::begin(std::size_t index) const {
  if (index >= lines_.size()) return content_.size();
  return static_cast<std::size_t>(lines_[index].data() - content_.data());
}

const std::vector<std::uint64_t>& FileLines::hashes(Leniency leniency) {
  auto& known = hashes_[static_cast<std::size_t>(leniency)];
  if (known.empty() && !lines_.empty()) {
    known.reserve(lines_.size());
    for (const std::string_view line : lines_) known.push_back(hash(line, leniency));
  }
  return known;
}

std::optional<std::size_t> FileLines::find(const std::vector<std::string_view>& pattern,
                                           std::size_t from) {
  if (pattern.empty()) return from;
  if (from + pattern.size() > size()) return std::nullopt;
  for (const Leniency leniency : kOrder) {
    const bool by_lines = leniency == Leniency::exact && compared_ < size();
    const auto place = by_lines ? find_exact(pattern, from) : find_by_hash(pattern, from, leniency);
    if (place) return place;
  }
  return std::nullopt;
}

std::optional<std::size_t> FileLines::find_exact(const std::vector<std::string_view>& pattern,
                                                 std::size_t from) {
  const auto place = first_place(pattern, lines_, from, [](std::size_t) { return true; });
  compared_ += (place ? *place : size()) - from;
  return place;
}

std::optional<std::size_t> FileLines::find_by_hash(const std::vector<std::string_view>& pattern,
                                                   std::size_t from, Leniency leniency) {
  std::vector<std::uint64_t> wanted(pattern.size());
  for (std::size_t i = 0; i < pattern.size(); ++i) wanted[i] = hash(pattern[i], leniency);
  return first_place(wanted, hashes(leniency), from, [&](std::size_t place) {
    for (std::size_t i = 0; i < pattern.size(); ++i)
      if (!equal(pattern[i], lines_[place + i], leniency)) return false;
    return true;
  });
}

std::optional<std::size_t> FileLines::find_at_end(const std::vector<std::string_view>& pattern,
                                                  std::size_t from) const {
  if (from + pattern.size() > size()) return std::nullopt;
  const std::size_t start = size() - pattern.size();
  for (const Leniency leniency : kOrder) {
    bool same = true;
    for (std::size_t i = 0; same && i < pattern.size(); ++i)
      same = equal(pattern[i], lines_[start + i], leniency);
    if (same) return start;
  }
  return std::nullopt;
}

}  // namespace sortie::patch
