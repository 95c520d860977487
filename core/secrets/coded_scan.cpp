#include "core/secrets/coded_scan.h"

#include <algorithm>
#include <utility>

namespace sortie {
namespace {

/// More than any benign text needs at once; further readings are dropped.
constexpr std::size_t kMostWalks = 48;

}  // namespace

void CodedScan::run() {
  for (;;) {
    const Place place = first_place();
    Walk& walk = walks_[place.walk];
    if (place.others != 0 || walk.skipped != 0 || walk.last_dump_line != 0) {
      if (!advance_all(place.at)) return;
      continue;
    }
    read_plain(walk, place.next - base_);
    if (is_over(walk)) {
      walks_.erase(walks_.begin() + static_cast<std::ptrdiff_t>(place.walk));
      continue;
    }
    if (walk.at == place.next && walk.at < end()) continue;
    if (!advance_all(walk.at)) return;
  }
}

CodedScan::Place CodedScan::first_place() const {
  Place place{.at = walks_.front().at, .next = end()};
  for (std::size_t i = 1; i < walks_.size(); ++i) {
    const std::size_t at = walks_[i].at;
    if (at == place.at) {
      ++place.others;
    } else if (at > place.at) {
      place.next = std::min(place.next, at);
    } else {
      place = {.at = at, .next = place.at, .walk = i};
    }
  }
  return place;
}

/// Advances a walk while it is the only one and the text has only one reading.
void CodedScan::read_plain(Walk& walk, std::size_t until) {
  const bool first = &walk == &walks_.front();
  std::size_t i = walk.at - base_;
  std::uint32_t state = walk.state;
  bool after_blank = walk.after_blank;
  while (i < until) {
    if (state == 0) {
      if (!first) break;
      i = next_start(i, until);
      if (i == until || begins_otherwise(i)) break;
      state = automaton_.first(text_[i++]);
      after_blank = text_[i - 1] == ' ';
      continue;
    }
    const char c = text_[i];
    if (kind_of(c) != plain_byte && goes_on_otherwise(i, state, after_blank, first ? 1 : 2)) break;
    state = automaton_.next(state, c);
    after_blank = c == ' ';
    ++i;
    // The first walk also reads a needle that begins here.
    if (!first && automaton_.depth(state) <= 1) state = 0;
    if (automaton_.needle_at(state) == NeedleSearch::kNone) continue;
    remember(walk, base_ + i, state);
    report(walk);
  }
  remember(walk, base_ + i, state);
}

/// Where the next needle may begin, encoded or not.
std::size_t CodedScan::next_start(std::size_t i, std::size_t until) {
  const char* const text = text_.data();
  const std::size_t most = std::min(until, text_.size() - 1);
  const auto begins_at = [&](std::size_t at) {
    return search_.starts_[pair_of(text[at], text[at + 1])];
  };
  for (;; ++i) {
    if (filter_ != nullptr && i + 1 < most) i = filter_->find(text_, i, most - 1, block_);
    while (filter_ == nullptr && i + 4 <= most) {
      if (begins_at(i)) break;
      if (begins_at(i + 1) && (i += 1) != 0) break;
      if (begins_at(i + 2) && (i += 2) != 0) break;
      if (begins_at(i + 3) && (i += 3) != 0) break;
      i += 4;
    }
    if (i < most && !begins_at(i)) continue;
    if (i + 2 >= text_.size() || i >= most) return i;
    if (search_.open_starts_[pair_of(text[i], text[i + 1])]) return i;
    if (search_.thirds_[triple_of(text[i], text[i + 1], text[i + 2])]) return i;
  }
}

/// Whether an encoded character at an offset of the text may begin a needle.
bool CodedScan::begins_otherwise(std::size_t i) {
  if (kind_of(text_[i]) != coded_byte || !may_be_coded(i)) return false;
  const Readings& found = readings_at(i);
  const auto begins = [&](const Reading& reading) {
    return reading.size > 0 && automaton_.first(reading.bytes[0]) != 0;
  };
  return found.cut || std::any_of(found.list.begin(), found.list.begin() + found.count, begins);
}

/// Checks the next byte only.
bool CodedScan::may_be_coded(std::size_t i) const {
  if (i + 1 >= text_.size()) return !ended_;
  const char next = text_[i + 1];
  if (begins_coded(next) || text_[i] == '\\') return true;
  if (text_[i] == '&')
    return next == '#' || (next >= 'A' && next <= 'Z') || (next >= 'a' && next <= 'z');
  return is_hex_digit(next) || next == 'u' || next == '\n' || next == '\r';
}

const Readings& CodedScan::readings_at(std::size_t i) {
  if (readings_of_ == i) return readings_;
  readings_of_ = i;
  readings_ = reader_.readings(i);
  return readings_;
}

/// Whether a fork at an offset of the text may find something that the walk itself does not.
/// @param least  the fewest characters of a needle that count; 2: not those that only begin here
bool CodedScan::goes_on_otherwise(std::size_t i, std::uint32_t state, bool after_blank,
                                  std::size_t least) {
  const std::uint8_t kind = kind_of(text_[i]);
  if (kind == coded_byte) return means_otherwise(i, state, least);
  const std::uint8_t expected = expects(state);
  if (kind == line_break_byte && expected != 0) return true;
  if (kind != blank_byte && kind != mark_byte) return goes_on_behind(i, state);
  const bool means_blank = text_[i] == '\t' || text_[i] == '+';
  if (search_.has_blanks_ &&
      ((after_blank && kind == blank_byte) || (means_blank && automaton_.next(state, ' ') != 0)))
    return true;
  return (expected & Expects::separators) != 0 && follows_separator(i, state);
}

bool CodedScan::follows_separator(std::size_t i, std::uint32_t state) const {
  const char next = i + 1 < text_.size() ? text_[i + 1] : ' ';
  if (kind_of(next) != plain_byte || next == '0') return true;
  if (automaton_.depth(automaton_.next(state, next)) > 1) return true;
  if (kind_of(text_[i]) != blank_byte) return false;
  // The end of a dump's line.
  return next_dump_line(text_, i) != 0 ||
         (!ended_ && text_.size() - i < dump_line_needs(text_.substr(i)));
}

/// Whether some byte after the quotes or line breaks at `i` continues a needle.
bool CodedScan::goes_on_behind(std::size_t i, std::uint32_t state) const {
  const std::size_t most = std::min(text_.size(), i + 1 + kMostSkipped);
  for (std::size_t at = i + 1; at < most; ++at) {
    const std::uint8_t next = kind_of(text_[at]);
    if (next == coded_byte || automaton_.depth(automaton_.next(state, text_[at])) > 1) return true;
    if (expects(state) != 0 && (next == line_break_byte || text_[at] == '0')) return true;
    if (next == plain_byte) return false;
  }
  return most == text_.size();
}

/// Whether an encoded character at an offset of the text may continue a needle.
bool CodedScan::means_otherwise(std::size_t i, std::uint32_t state, std::size_t least) {
  if (!may_be_coded(i)) return false;
  if (i + 1 < text_.size() && kind_of(text_[i + 1]) == line_break_byte) return true;
  const Readings& found = readings_at(i);
  const auto goes_on = [&](const Reading& reading) {
    return reading.size == 0 || reading.bytes[0] == '\n' || reading.bytes[0] == '\r' ||
           automaton_.depth(automaton_.next(state, reading.bytes[0])) >= least;
  };
  return found.cut || std::any_of(found.list.begin(), found.list.begin() + found.count, goes_on);
}

/// Records the state that the walk has reached by plain bytes.
void CodedScan::remember(Walk& walk, std::size_t at, std::uint32_t state) {
  const std::size_t open = automaton_.depth(state);
  const std::size_t read = std::min(at - walk.at, open);
  if (read == open) walk.last = 0;
  if (open == 0 && walks_.size() == 1) read_.resize(1);
  for (std::size_t i = read; i > 0; --i) {
    read_.push_back({.begin = at - i, .before = walk.last});
    walk.last = static_cast<std::uint32_t>(read_.size() - 1);
  }
  if (at > walk.at) walk.after_blank = byte(at - 1) == ' ';
  walk.at = at;
  walk.state = state;
}

/// Advances the walk by a character of a needle, encoded or not.
void CodedScan::take(Walk& walk, char c, std::size_t begin, std::size_t behind) {
  walk.state = automaton_.next(walk.state, c);
  read_.push_back({.begin = begin, .before = walk.last});
  walk.last = static_cast<std::uint32_t>(read_.size() - 1);
  walk.at = behind;
  walk.skipped = 0;
  walk.marks = 0;
  walk.broken = false;
  walk.escaped_break = false;
  walk.after_blank = c == ' ';
}

/// Where the needle begins that the walk is in.
std::size_t CodedScan::open_since(const Walk& walk) const {
  const std::size_t open = automaton_.depth(walk.state);
  if (open == 0) return walk.at;
  std::uint32_t first = walk.last;
  for (std::size_t i = 1; i < open; ++i) first = read_[first].before;
  return read_[first].begin;
}

/// Drops the characters that no open walk needs.
void CodedScan::forget_read() {
  std::vector<CodedSearch::Read> kept{CodedSearch::Read{}};
  std::vector<std::size_t> begins;
  for (Walk& walk : walks_) {
    begins.clear();
    const std::size_t open = automaton_.depth(walk.state);
    for (std::uint32_t at = walk.last; begins.size() < open; at = read_[at].before)
      begins.push_back(read_[at].begin);
    walk.last = 0;
    for (std::size_t i = open; i-- > 0;) {
      kept.push_back({.begin = begins[i], .before = walk.last});
      walk.last = static_cast<std::uint32_t>(kept.size() - 1);
    }
  }
  read_ = std::move(kept);
  most_read_ = std::max(most_read_, 2 * read_.size());
}

void CodedScan::report(const Walk& walk) {
  const std::uint32_t needle = automaton_.needle_at(walk.state);
  std::uint32_t first = walk.last;
  for (std::size_t i = automaton_.length(needle); i > 1; --i) first = read_[first].before;
  const std::size_t begin = read_[first].begin;
  if (search_.gaps_[needle] == CodedSearch::Gaps::none && walk.last_wrap > begin) return;
  std::size_t until = walk.at;
  // The text column of a dump's line shows a part of its bytes.
  if (walk.last_dump_line > begin) {
    const std::size_t most = std::min(end(), walk.last_dump_line + kMostDumpLine);
    while (until < most && byte(until) != '\n') ++until;
  }
  hits_.push_back({begin, until, needle});
}

/// Advances the walks that are furthest behind.
/// @return  false if more of the text is needed; nothing has changed then
bool CodedScan::advance_all(std::size_t at) {
  if (at >= end()) return false;
  if (walks_.size() > 1) keep_one_of_each(at);
  // A copy: forks look ahead.
  Readings found;
  if (kind_of(byte(at)) == coded_byte) found = readings_at(at - base_);
  if (found.cut) return false;
  for (const Walk& walk : walks_)
    if (walk.at == at && (lacks_line_end(walk) || lacks_dump_line(walk))) return false;
  for (std::size_t i = 0; i < walks_.size(); ++i)
    if (walks_[i].at == at) advance(walks_[i], found);
  if (walks_.size() > 1)
    walks_.erase(std::remove_if(walks_.begin() + 1, walks_.end(),
                                [&](const Walk& walk) { return walk.state == 0; }),
                 walks_.end());
  for (const Walk& fork : forks_)
    if (walks_.size() < kMostWalks) walks_.push_back(fork);
  forks_.clear();
  if (read_.size() > most_read_) forget_read();
  return true;
}

/// Advances the walk by the plain byte, and forks for each other reading.
void CodedScan::advance(Walk& walk, const Readings& found) {
  const char c = byte(walk.at);
  const bool first = &walk == &walks_.front();
  const std::size_t i = walk.at - base_;
  if (walk.skipped > 0 || walk.state == 0 ||
      (kind_of(c) != plain_byte &&
       goes_on_otherwise(i, walk.state, walk.after_blank, first ? 1 : 2)))
    fork(walk, found);
  take(walk, c, walk.at, walk.at + 1);
  if (automaton_.needle_at(walk.state) != NeedleSearch::kNone) report(walk);
  if (!first && automaton_.depth(walk.state) <= 1) walk.state = 0;
}

bool CodedScan::is_over(const Walk& walk) const {
  return walk.state == 0 && &walk != &walks_.front();
}

/// Merges walks at the same place and state into the one that began first, so that all of an
/// encoded character is replaced.
void CodedScan::keep_one_of_each(std::size_t at) {
  for (std::size_t i = 0; i < walks_.size(); ++i) {
    if (walks_[i].at != at) continue;
    for (std::size_t k = walks_.size(); --k > i;) {
      if (walks_[k].at != at || walks_[k].state != walks_[i].state) continue;
      if (walks_[k].skipped != walks_[i].skipped) continue;
      if (open_since(walks_[k]) < open_since(walks_[i])) std::swap(walks_[i], walks_[k]);
      walks_.erase(walks_.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
}

// Here and not with the rest of the class, which is independent of CodedScan.
void CodedSearch::scan(std::string_view text, std::size_t base, bool ended, Position& position,
                       std::vector<Hit>& hits) const {
  CodedScan(*this, text, base, ended, position, hits).run();
}

}  // namespace sortie
