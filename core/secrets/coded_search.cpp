#include "core/secrets/coded_search.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "core/secrets/readings.h"

namespace sortie {
namespace {

/// Needles have 5 bytes or more: of the 5 bytes from where one begins, the last two are looked at.
constexpr std::size_t kStride = 4;
/// Places of characters that a walk may remember for nothing.
constexpr std::size_t kMuchRemembered = 64;
/// Bytes between two characters of a needle: a wrap, its indent and marks.
constexpr unsigned kMostSkipped = 80;
constexpr unsigned kMostMarks = 6;
/// More at once than any text comes to that is no attack; what is dropped then is a reading.
constexpr std::size_t kMostWalks = 48;
/// A line of a dump, from its last byte on: the characters at the end, the next line's offset.
constexpr std::size_t kMostDumpText = 72;
constexpr std::size_t kMostDumpOffset = 16;
constexpr std::size_t kMostDumpBlanks = 4;
/// A whole line of a dump, from its offset's end on.
constexpr std::size_t kMostDumpLine = 120;

enum Expects : std::uint8_t { separators = 1, blanks = 2 };

enum Kind : std::uint8_t { plain = 0, coded = 1, quote = 2, line_break = 4, blank = 8, mark = 16 };
constexpr std::string_view kMarks = "#|>*/+-,.;";

constexpr std::array<std::uint8_t, 256> make_kinds() {
  std::array<std::uint8_t, 256> kinds{};
  for (const char c : {'\\', '%', '&', '='}) kinds[static_cast<unsigned char>(c)] = Kind::coded;
  for (const char c : {'"', '\'', '`'}) kinds[static_cast<unsigned char>(c)] = Kind::quote;
  for (const char c : {'\n', '\r'}) kinds[static_cast<unsigned char>(c)] = Kind::line_break;
  for (const char c : {' ', '\t'}) kinds[static_cast<unsigned char>(c)] = Kind::blank;
  for (const char c : kMarks) kinds[static_cast<unsigned char>(c)] = Kind::mark;
  kinds[':'] = Kind::mark;
  return kinds;
}
constexpr std::array<std::uint8_t, 256> kKinds = make_kinds();

std::uint8_t kind_of(char c) { return kKinds[static_cast<unsigned char>(c)]; }

std::size_t pair(char first, char second) {
  return static_cast<std::size_t>(static_cast<unsigned char>(first) << 8 |
                                  static_cast<unsigned char>(second));
}

bool is_hex_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// The offset of the first byte from `at` on that begins_coded(), or the size.
std::size_t next_coded(std::string_view text, std::size_t at) {
#ifdef __SSE2__
  for (; at + 16 <= text.size(); at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const auto equals = [&](char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); };
    const auto any = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(
        _mm_or_si128(equals('\\'), equals('%')), _mm_or_si128(equals('&'), equals('=')))));
    if (any != 0) return at + static_cast<std::size_t>(std::countr_zero(any));
  }
#endif
  while (at < text.size() && !begins_coded(text[at])) ++at;
  return at;
}

}  // namespace

std::uint32_t CodedSearch::add(std::string_view needle, Gaps gaps) {
  const std::uint32_t index = automaton_.add(needle);
  if (index == gaps_.size())
    gaps_.push_back(gaps);
  else
    gaps_[index] = std::max(gaps_[index], gaps);
  has_blanks_ = has_blanks_ || needle.find(' ') != std::string_view::npos;
  expects_.resize(automaton_.states());
  if (gaps == Gaps::hex || gaps == Gaps::spaced_bytes) {
    std::uint32_t state = 0;
    for (std::size_t i = 0; i + 1 < needle.size(); ++i) {
      state = automaton_.child_of(state, needle[i]);
      if (gaps == Gaps::hex && i % 2 == 1) expects_[state] |= Expects::separators;
      if (gaps == Gaps::spaced_bytes && needle[i + 1] == ' ') expects_[state] |= Expects::blanks;
    }
  }
  allow_pairs(needle, gaps);
  return index;
}

void CodedSearch::build() {
  automaton_.build();
  // What ends in a needle's part expects what that does.
  std::vector<std::uint32_t> by_depth(automaton_.states());
  for (std::uint32_t state = 0; state < by_depth.size(); ++state) by_depth[state] = state;
  std::stable_sort(by_depth.begin(), by_depth.end(), [&](std::uint32_t one, std::uint32_t other) {
    return automaton_.depth(one) < automaton_.depth(other);
  });
  for (const std::uint32_t state : by_depth)
    if (state != 0) expects_[state] |= expects_[automaton_.fallback(state)];
}

void CodedSearch::allow_pairs(std::string_view needle, Gaps gaps) {
  for (std::size_t i = 0; i <= kStride && i < needle.size(); ++i) {
    const char c = needle[i];
    if (i < kStride) pairs_.set(pair(c, needle[i + 1]));
    for (unsigned byte = 0; byte < 256; ++byte) {
      const char between = static_cast<char>(byte);
      const std::uint8_t kind = kind_of(between);
      if ((kind & (Kind::quote | Kind::line_break)) != 0) pairs_.set(pair(c, between));
      if (i > 0 && kind > Kind::coded) pairs_.set(pair(between, c));
      if (gaps == Gaps::hex && i % 2 == 1 && (kind & (Kind::blank | Kind::mark)) != 0)
        pairs_.set(pair(c, between));
    }
    if (c == ' ') {  // or a plus, of a form
      pairs_.set(pair(' ', ' '));
      if (i > 0) pairs_.set(pair(needle[i - 1], '+'));
      if (i + 1 < needle.size()) pairs_.set(pair('+', needle[i + 1]));
    }
  }
  if (gaps_.size() != 1) return;
  for (unsigned first = 0; first < 256; ++first)
    for (unsigned second = 0; second < 256; ++second) {
      const char one = static_cast<char>(first);
      const char other = static_cast<char>(second);
      if (kind_of(one) > Kind::coded && kind_of(other) > Kind::coded) pairs_.set(pair(one, other));
    }
}

/// One call of scan().
struct CodedSearch::Scan {
  const CodedSearch& search;
  const NeedleSearch& automaton;
  std::string_view text;
  std::size_t base;
  bool ended;
  std::vector<Hit>& hits;
  std::vector<Walk> forks{};
  std::size_t coded_at = 0;  ///< the first byte at or behind the first walk that begins_coded()

  char byte(std::size_t at) const { return text[at - base]; }
  std::size_t end() const { return base + text.size(); }

  /// The first walk, as long as it is alone and nothing can be read otherwise.
  /// @return  whether it came to the text's end
  bool run(Walk& walk) {
    std::size_t i = walk.at - base;
    std::uint32_t state = walk.state;
    while (i < text.size()) {
      if (state == 0) {
        if (coded_at < i) coded_at = next_coded(text, i);
        while (i + kStride < coded_at &&
               !search.pairs_[pair(text[i + kStride - 1], text[i + kStride])])
          i += kStride;
        if (i == coded_at && begins_otherwise(i)) break;
        state = automaton.first(text[i++]);
        continue;
      }
      if (kind_of(text[i]) != Kind::plain && goes_on_otherwise(i, state)) break;
      state = automaton.next(state, text[i++]);
      if (automaton.needle_at(state) == NeedleSearch::kNone) continue;
      remember(walk, base + i, state);
      report(walk);
    }
    remember(walk, base + i, state);
    return i == text.size();
  }

  /// Whether what is coded at an offset of the text may begin a needle.
  bool begins_otherwise(std::size_t i) const {
    if (!may_be_coded(i)) return false;
    const Readings found = readings(text, i, ended);
    const auto begins = [&](const Reading& reading) {
      return reading.size > 0 && automaton.first(reading.bytes[0]) != 0;
    };
    return found.cut || std::any_of(found.list.begin(), found.list.begin() + found.count, begins);
  }

  /// By the next byte alone.
  bool may_be_coded(std::size_t i) const {
    if (i + 1 >= text.size()) return !ended;
    const char next = text[i + 1];
    if (begins_coded(next) || text[i] == '\\') return true;
    if (text[i] == '&')
      return next == '#' || (next >= 'A' && next <= 'Z') || (next >= 'a' && next <= 'z');
    return is_hex_digit(next) || next == 'u' || next == '\n' || next == '\r';
  }

  /// Whether a fork at an offset of the text may come to what the walk itself doesn't.
  bool goes_on_otherwise(std::size_t i, std::uint32_t state) const {
    const std::uint8_t kind = kind_of(text[i]);
    if (kind == Kind::coded) return means_otherwise(i, state);
    const std::uint8_t expected = search.expects_[state];
    if (kind == Kind::line_break && expected != 0) return true;
    if (kind == Kind::blank || kind == Kind::mark) {
      const bool folds = i > 0 && text[i - 1] == ' ' && kind == Kind::blank;
      const bool means_blank = text[i] == '\t' || text[i] == '+';
      if (search.has_blanks_ && (folds || (means_blank && automaton.next(state, ' ') != 0)))
        return true;
      if ((expected & Expects::separators) == 0) return false;
      const char next = i + 1 < text.size() ? text[i + 1] : ' ';
      return kind_of(next) != Kind::plain || next == '0' ||
             automaton.depth(automaton.next(state, next)) > 1;
    }
    // Behind a quote or a line break, with more of the kind, some byte has to go on with a needle.
    const std::size_t most = std::min(text.size(), i + 1 + kMostSkipped);
    for (std::size_t at = i + 1; at < most; ++at) {
      const std::uint8_t next = kind_of(text[at]);
      if (next == Kind::coded || automaton.depth(automaton.next(state, text[at])) > 1) return true;
      if (expected != 0 && (next == Kind::line_break || text[at] == '0')) return true;
      if (next == Kind::plain) return false;
    }
    return most == text.size();
  }

  /// Whether what is coded at an offset of the text may go on with a needle.
  bool means_otherwise(std::size_t i, std::uint32_t state) const {
    if (!may_be_coded(i)) return false;
    if (i + 1 < text.size() && kind_of(text[i + 1]) == Kind::line_break) return true;
    const Readings found = readings(text, i, ended);
    const auto goes_on = [&](const Reading& reading) {
      return reading.size == 0 || reading.bytes[0] == '\n' || reading.bytes[0] == '\r' ||
             automaton.next(state, reading.bytes[0]) != 0;
    };
    return found.cut || std::any_of(found.list.begin(), found.list.begin() + found.count, goes_on);
  }

  /// What the walk has come to by bytes as they stand.
  void remember(Walk& walk, std::size_t at, std::uint32_t state) const {
    const std::size_t open = automaton.depth(state);
    const std::size_t read = std::min(at - walk.at, open);
    const std::size_t before = std::min(open - read, walk.begins.size());
    walk.begins.erase(walk.begins.begin(), walk.begins.end() - static_cast<std::ptrdiff_t>(before));
    for (std::size_t i = read; i > 0; --i) walk.begins.push_back(at - i);
    if (at > walk.at) walk.after_blank = byte(at - 1) == ' ';
    walk.at = at;
    walk.state = state;
  }

  void trim(Walk& walk) const {
    const std::size_t open = automaton.depth(walk.state);
    if (walk.begins.size() > 2 * open + kMuchRemembered)
      walk.begins.erase(walk.begins.begin(), walk.begins.end() - static_cast<std::ptrdiff_t>(open));
  }

  void report(const Walk& walk) {
    const std::uint32_t needle = automaton.needle_at(walk.state);
    const std::size_t begin = walk.begins[walk.begins.size() - automaton.length(needle)];
    if (search.gaps_[needle] == Gaps::none && walk.last_wrap > begin) return;
    std::size_t until = walk.at;
    // The characters at the end of a dump's line show a part of what its bytes are.
    if (walk.last_dump_line > begin) {
      const std::size_t most = std::min(end(), walk.last_dump_line + kMostDumpLine);
      while (until < most && byte(until) != '\n') ++until;
    }
    hits.push_back({begin, until, needle});
  }

  /// Whether the end of a dump's line, which report() takes as well, is still to come.
  bool lacks_line_end(const Walk& walk) const {
    return !ended && walk.last_dump_line != 0 && end() < walk.last_dump_line + kMostDumpLine;
  }

  /// A character of a needle, whatever stood for it.
  void take(Walk& walk, char c, std::size_t begin, std::size_t behind) {
    walk.state = automaton.next(walk.state, c);
    walk.begins.push_back(begin);
    walk.at = behind;
    walk.skipped = 0;
    walk.marks = 0;
    walk.broken = false;
    walk.escaped_break = false;
    walk.after_blank = c == ' ';
    trim(walk);
  }

  /// The same walk once more, with no more of its past than it needs.
  Walk fork_of(const Walk& walk) const {
    Walk fork = {.at = walk.at,
                 .state = walk.state,
                 .skipped = walk.skipped,
                 .marks = walk.marks,
                 .broken = walk.broken,
                 .escaped_break = walk.escaped_break,
                 .after_return = walk.after_return,
                 .after_blank = walk.after_blank,
                 .last_wrap = walk.last_wrap,
                 .last_dump_line = walk.last_dump_line};
    const auto open = static_cast<std::ptrdiff_t>(automaton.depth(walk.state));
    fork.begins.assign(walk.begins.end() - open, walk.begins.end());
    return fork;
  }

  void fork_reading(const Walk& walk, const Reading& reading) {
    if (reading.size == 0) return;
    Walk fork = fork_of(walk);
    const std::size_t behind = base + reading.end;
    for (const char c : reading.text()) take(fork, c, walk.at, behind);
    if (fork.state == 0) return;
    if (automaton.needle_at(fork.state) != NeedleSearch::kNone) report(fork);
    forks.push_back(std::move(fork));
  }

  void fork_skip(const Walk& walk, std::size_t behind, std::uint8_t kind) {
    const std::size_t skipped = walk.skipped + (behind - walk.at);
    if (skipped > kMostSkipped) return;
    if ((kind & (Kind::quote | Kind::mark)) != 0 && walk.marks == kMostMarks) return;
    Walk fork = fork_of(walk);
    fork.at = behind;
    fork.skipped = static_cast<std::uint8_t>(skipped);
    if ((kind & (Kind::quote | Kind::mark)) != 0) ++fork.marks;
    if (kind == Kind::line_break) {
      fork.broken = true;
      fork.last_wrap = behind;
    }
    forks.push_back(std::move(fork));
  }

  /// One line break between two characters, of which "\r\n" is one.
  void fork_line_break(const Walk& walk, std::size_t behind) {
    const bool second = walk.after_return && byte(walk.at) == '\n';
    if (walk.broken && !second) return;
    const std::size_t before = forks.size();
    fork_skip(walk, behind, Kind::line_break);
    if (forks.size() > before) forks.back().after_return = byte(walk.at) == '\r';
  }

  /// A line break inside a string, behind which another one may end the string's line.
  void fork_escaped_break(const Walk& walk, std::size_t behind, bool newline) {
    const std::size_t before = forks.size();
    if (!walk.escaped_break) fork_skip(walk, behind, Kind::line_break);
    if (forks.size() == before) return;
    forks.back().broken = walk.broken;
    forks.back().escaped_break = newline;
  }

  void fork_coded(const Walk& walk, const Readings& found) {
    for (std::size_t i = 0; i < found.count; ++i) {
      const Reading& reading = found.list[i];
      fork_reading(walk, reading);
      if (walk.state == 0) continue;
      const std::size_t behind = base + reading.end;
      if (reading.soft_break) {
        fork_line_break(walk, behind);
      } else if (reading.text() == "\n" || reading.text() == "\r") {
        fork_escaped_break(walk, behind, reading.text() == "\n");
      }
    }
    // A line that a backslash continues.
    if (walk.state != 0 && byte(walk.at) == '\\' && walk.at + 1 < end() &&
        kind_of(byte(walk.at + 1)) == Kind::line_break)
      fork_skip(walk, walk.at + 1, Kind::mark);
  }

  /// Blanks as one blank, a tab and a form's plus as one.
  void fork_blank(const Walk& walk) {
    if (!search.has_blanks_) return;
    if (walk.after_blank && kind_of(byte(walk.at)) == Kind::blank)
      fork_skip(walk, walk.at + 1, Kind::blank);
    if (byte(walk.at) == ' ' || automaton.next(walk.state, ' ') == 0) return;
    Walk fork = fork_of(walk);
    take(fork, ' ', walk.at, walk.at + 1);
    forks.push_back(std::move(fork));
  }

  /// From a dump's last byte of a line to the first one of the next.
  /// @return  that one's offset, 0 where there is none
  std::size_t next_dump_line(std::size_t at) const {
    std::size_t i = at - base;
    const std::size_t newline = text.substr(i, kMostDumpText).find('\n');
    if (newline == std::string_view::npos) return 0;
    i += newline + 1;
    const std::size_t offset = i;
    while (i < text.size() && i - offset <= kMostDumpOffset && is_hex_digit(text[i])) ++i;
    if (i - offset < 4 || i - offset > kMostDumpOffset) return 0;
    if (i < text.size() && text[i] == ':') ++i;
    const std::size_t blanks = i;
    while (i < text.size() && i - blanks < kMostDumpBlanks && kind_of(text[i]) == Kind::blank) ++i;
    return i > blanks && i < text.size() ? base + i : 0;
  }

  bool may_end_dump_line(const Walk& walk) const {
    const char c = byte(walk.at);
    if (kind_of(c) == Kind::line_break) return true;
    return (expects(walk.state) & Expects::separators) != 0 && kind_of(c) == Kind::blank;
  }

  /// Whether next_dump_line() would say something else with more of the text.
  bool lacks_dump_line(const Walk& walk) const {
    if (ended || walk.state == 0 || !may_end_dump_line(walk) || expects(walk.state) == 0)
      return false;
    const std::string_view rest = text.substr(walk.at - base);
    const std::size_t newline = rest.substr(0, kMostDumpText).find('\n');
    return rest.size() < (newline == std::string_view::npos
                              ? kMostDumpText
                              : newline + kMostDumpOffset + kMostDumpBlanks + 4);
  }

  void fork_dump(const Walk& walk) {
    const std::uint8_t expected = expects(walk.state);
    if (expected == 0) return;
    if (const std::size_t next = may_end_dump_line(walk) ? next_dump_line(walk.at) : 0; next != 0) {
      Walk fork = fork_of(walk);
      if ((expected & Expects::blanks) != 0)
        take(fork, ' ', walk.at, next);
      else
        fork.at = next;
      fork.last_dump_line = next;
      forks.push_back(std::move(fork));
    }
    if ((expected & Expects::separators) == 0) return;
    const char c = byte(walk.at);
    if (c == ' ' || c == ':' || c == '-' || c == ',') fork_skip(walk, walk.at + 1, Kind::mark);
  }

  std::uint8_t expects(std::uint32_t state) const { return search.expects_[state]; }

  /// Reads what stands where the walk is: as it stands, and otherwise by forks.
  void advance(Walk& walk, const Readings& found) {
    const char c = byte(walk.at);
    const std::uint8_t kind = kind_of(c);
    const bool between = walk.skipped > 0;
    if (kind == Kind::coded) {
      fork_coded(walk, found);
    } else if (walk.state != 0 && kind != Kind::plain) {
      fork_dump(walk);
      if (kind == Kind::line_break)
        fork_line_break(walk, walk.at + 1);
      else if (kind == Kind::quote || between)
        fork_skip(walk, walk.at + 1, kind);
      if (kind == Kind::blank || c == '+') fork_blank(walk);
    } else if (between && (c == '0' || c == 'x') &&
               (expects(walk.state) & Expects::separators) != 0) {
      fork_skip(walk, walk.at + 1, Kind::blank);  // 0x before a byte of a list
    }
    take(walk, c, walk.at, walk.at + 1);
    if (automaton.needle_at(walk.state) != NeedleSearch::kNone) report(walk);
  }

  /// Reads what stands at the walks that are furthest behind.
  /// @return  false where more of the text would decide; nothing has happened then
  bool advance_all(std::vector<Walk>& walks) {
    std::size_t at = walks.front().at;
    for (const Walk& walk : walks) at = std::min(at, walk.at);
    if (at >= end()) return false;
    keep_one_of_each(walks, at);
    Readings found;
    if (kind_of(byte(at)) == Kind::coded) found = readings(text, at - base, ended);
    if (found.cut) return false;
    for (const Walk& walk : walks)
      if (walk.at == at && (lacks_line_end(walk) || lacks_dump_line(walk))) return false;
    for (Walk& walk : walks)
      if (walk.at == at) advance(walk, found);
    const auto is_over = [&](const Walk& walk) {
      return walk.state == 0 && &walk != &walks.front();
    };
    walks.erase(std::remove_if(walks.begin() + 1, walks.end(), is_over), walks.end());
    for (Walk& fork : forks)
      if (walks.size() < kMostWalks) walks.push_back(std::move(fork));
    forks.clear();
    return true;
  }

  /// Where the needle begins that a walk may be in.
  std::size_t open_since(const Walk& walk) const {
    const std::size_t open = automaton.depth(walk.state);
    return open == 0 ? walk.at : walk.begins[walk.begins.size() - open];
  }

  /// Walks that stand at the same place of text and needles go on alike: as the one that began
  /// first, so that all of a coded character is replaced.
  void keep_one_of_each(std::vector<Walk>& walks, std::size_t at) const {
    for (std::size_t i = 0; i < walks.size(); ++i) {
      if (walks[i].at != at) continue;
      for (std::size_t k = walks.size(); --k > i;) {
        if (walks[k].at != at || walks[k].state != walks[i].state) continue;
        if (walks[k].skipped != walks[i].skipped) continue;
        if (open_since(walks[k]) < open_since(walks[i])) std::swap(walks[i], walks[k]);
        walks.erase(walks.begin() + static_cast<std::ptrdiff_t>(k));
      }
    }
  }
};

void CodedSearch::scan(std::string_view text, std::size_t base, bool ended, Position& position,
                       std::vector<Hit>& hits) const {
  Scan scan{.search = *this,
            .automaton = automaton_,
            .text = text,
            .base = base,
            .ended = ended,
            .hits = hits};
  scan.coded_at = next_coded(text, position.walks.front().at - base);
  do {
    if (position.walks.size() == 1 && scan.run(position.walks.front())) return;
  } while (scan.advance_all(position.walks));
}

bool CodedSearch::finds_any(std::string_view text) const {
  Position position;
  std::vector<Hit> hits;
  scan(text, 0, true, position, hits);
  return !hits.empty();
}

std::size_t CodedSearch::begin_of_open(const Position& position, std::size_t allowed,
                                       std::size_t end) const {
  for (const Walk& walk : position.walks) {
    const std::size_t open = automaton_.depth(walk.state);
    if (open > allowed) end = std::min(end, walk.begins[walk.begins.size() - open]);
    if (allowed == 0) end = std::min(end, walk.at);
  }
  return end;
}

}  // namespace sortie
