// How CodedScan forks walks, and which bytes they skip.
#include "core/secrets/coded_scan.h"

namespace sortie {

void CodedScan::fork(const Walk& walk, const Readings& found) {
  const char c = byte(walk.at);
  const std::uint8_t kind = kind_of(c);
  const bool between = walk.skipped > 0;
  if (kind == coded_byte) {
    fork_coded(walk, found);
  } else if (walk.state != 0 && kind != plain_byte) {
    fork_dump(walk);
    if (kind == line_break_byte)
      fork_line_break(walk, walk.at + 1);
    else if (kind == quote_byte || between)
      fork_skip(walk, walk.at + 1, kind);
    if (kind == blank_byte || c == '+') fork_blank(walk);
  } else if (between && (c == '0' || c == 'x') &&
             (expects(walk.state) & Expects::separators) != 0) {
    fork_skip(walk, walk.at + 1, blank_byte);  // 0x before a byte of a list
  }
}

void CodedScan::fork_coded(const Walk& walk, const Readings& found) {
  for (std::size_t i = 0; i < found.count; ++i) {
    const Reading& reading = found.list[i];
    fork_reading(walk, reading);
    if (walk.state == 0) continue;
    const std::size_t behind = base_ + reading.end;
    if (reading.soft_break) {
      fork_line_break(walk, behind);
    } else if (reading.text() == "\n" || reading.text() == "\r") {
      fork_escaped_break(walk, behind, reading.text() == "\n");
    }
  }
  // A line that a backslash continues.
  if (walk.state != 0 && byte(walk.at) == '\\' && walk.at + 1 < end() &&
      kind_of(byte(walk.at + 1)) == line_break_byte)
    fork_skip(walk, walk.at + 1, mark_byte);
}

void CodedScan::fork_reading(const Walk& walk, const Reading& reading) {
  if (reading.size == 0) return;
  if (reading.size == 1 && automaton_.next(walk.state, reading.bytes[0]) == 0) return;
  Walk fork = walk;
  const std::size_t behind = base_ + reading.end;
  for (const char c : reading.text()) take(fork, c, walk.at, behind);
  if (fork.state == 0) return;
  if (automaton_.needle_at(fork.state) != NeedleSearch::kNone) report(fork);
  if (!is_dead_end(fork)) forks_.push_back(fork);
}

/// Whether a fork would end at once, or find nothing that the first walk does not find.
bool CodedScan::is_dead_end(const Walk& fork) {
  if (fork.at >= end() || fork.last_dump_line != 0) return false;
  const char next = byte(fork.at);
  if (automaton_.depth(automaton_.next(fork.state, next)) > 1) return false;
  return kind_of(next) == plain_byte ||
         !goes_on_otherwise(fork.at - base_, fork.state, fork.after_blank, 2);
}

/// @return  whether so many bytes are allowed between two characters
bool CodedScan::fork_skip(const Walk& walk, std::size_t behind, std::uint8_t kind) {
  const std::size_t skipped = walk.skipped + (behind - walk.at);
  if (skipped > kMostSkipped) return false;
  const bool is_mark = (kind & (quote_byte | mark_byte)) != 0;
  if (is_mark && walk.marks == kMostMarks) return false;
  Walk fork = walk;
  fork.at = behind;
  fork.skipped = static_cast<std::uint8_t>(skipped);
  if (is_mark) ++fork.marks;
  if (kind == line_break_byte) {
    fork.broken = true;
    fork.last_wrap = behind;
  }
  forks_.push_back(fork);
  return true;
}

/// One line break between two characters, of which "\r\n" is one.
void CodedScan::fork_line_break(const Walk& walk, std::size_t behind) {
  const bool second = walk.after_return && byte(walk.at) == '\n';
  if (walk.broken && !second) return;
  if (fork_skip(walk, behind, line_break_byte)) forks_.back().after_return = byte(walk.at) == '\r';
}

/// A line break inside a string, after which another one may end the string's line.
void CodedScan::fork_escaped_break(const Walk& walk, std::size_t behind, bool newline) {
  if (walk.escaped_break || !fork_skip(walk, behind, line_break_byte)) return;
  forks_.back().broken = walk.broken;
  forks_.back().escaped_break = newline;
}

/// Blanks as one blank, a tab and a form's plus as one.
void CodedScan::fork_blank(const Walk& walk) {
  if (!search_.has_blanks_) return;
  if (walk.after_blank && kind_of(byte(walk.at)) == blank_byte)
    fork_skip(walk, walk.at + 1, blank_byte);
  if (byte(walk.at) == ' ' || automaton_.next(walk.state, ' ') == 0) return;
  Walk fork = walk;
  take(fork, ' ', walk.at, walk.at + 1);
  forks_.push_back(fork);
}

void CodedScan::fork_dump(const Walk& walk) {
  const std::uint8_t expected = expects(walk.state);
  if (expected == 0) return;
  const std::size_t offset = may_end_dump_line(walk) ? next_dump_line(text_, walk.at - base_) : 0;
  if (offset != 0) {
    const std::size_t next = base_ + offset;
    Walk fork = walk;
    if ((expected & Expects::blanks) != 0)
      take(fork, ' ', walk.at, next);
    else
      fork.at = next;
    fork.last_dump_line = next;
    forks_.push_back(fork);
  }
  if ((expected & Expects::separators) == 0) return;
  const char c = byte(walk.at);
  if (c == ' ' || c == ':' || c == '-' || c == ',') fork_skip(walk, walk.at + 1, mark_byte);
}

bool CodedScan::may_end_dump_line(const Walk& walk) const {
  const char c = byte(walk.at);
  if (kind_of(c) == line_break_byte) return true;
  return (expects(walk.state) & Expects::separators) != 0 && kind_of(c) == blank_byte;
}

/// Whether the end of a dump's line, which report() includes, is still missing.
bool CodedScan::lacks_line_end(const Walk& walk) const {
  return !ended_ && walk.last_dump_line != 0 && end() < walk.last_dump_line + kMostDumpLine;
}

/// Whether next_dump_line() could have another result with more of the text.
bool CodedScan::lacks_dump_line(const Walk& walk) const {
  if (ended_ || walk.state == 0 || expects(walk.state) == 0 || !may_end_dump_line(walk))
    return false;
  const std::string_view rest = text_.substr(walk.at - base_);
  return rest.size() < dump_line_needs(rest);
}

}  // namespace sortie
