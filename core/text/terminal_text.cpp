#include "core/text/terminal_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kLongestLine = 64u << 10;
/// An unterminated sequence of this length is shown, so that it can't hide the rest of an output.
constexpr std::size_t kLongestSequence = 4096;

constexpr char kBackspace = '\b';
constexpr char kEscape = '\x1b';
constexpr char kBell = '\a';

/// Bytes that are passed on unchanged: all except control characters other than newline and tab.
constexpr std::array<bool, 256> kPlainBytes = [] {
  std::array<bool, 256> plain{};
  for (std::size_t i = 0; i < plain.size(); ++i)
    plain[i] = (i >= 0x20 && i != 0x7f) || i == '\n' || i == '\t';
  return plain;
}();

/// How many bytes at the beginning are passed on unchanged. After a few, whole blocks of a constant
/// length are checked, which the compiler vectorizes even with -O2.
std::size_t plain_bytes(std::string_view text) {
  constexpr std::size_t kFew = 16;
  constexpr std::size_t kBlock = 128;
  const auto is_plain = [&](std::size_t i) {
    return kPlainBytes[static_cast<unsigned char>(text[i])];
  };
  std::size_t end = 0;
  while (end < text.size() && end < kFew && is_plain(end)) ++end;
  if (end < kFew) return end;
  for (bool clean = true; clean && end + kBlock <= text.size(); end += clean ? kBlock : 0) {
    const char* const block = text.data() + end;
    unsigned char special = 0;
    for (std::size_t i = 0; i < kBlock; ++i) {
      const auto byte = static_cast<unsigned char>(block[i]);
      const bool control = (byte < 0x20) & (byte != '\n') & (byte != '\t');
      special = static_cast<unsigned char>(special | control | (byte == 0x7f));
    }
    clean = special == 0;
  }
  while (end < text.size() && is_plain(end)) ++end;
  return end;
}

/// The second byte of U+0080 to U+009F; 0 if there is no such character.
unsigned char c1_control(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size() || text[at] != '\xc2') return 0;
  const auto second = static_cast<unsigned char>(text[at + 1]);
  return second < 0xa0 ? second : 0;
}

/// The end of the sequence that this control begins: a CSI has parameters and a letter, a string
/// (DCS, SOS, OSC, PM, APC) ends at its ST if that is on the line.
std::size_t end_of_sequence(std::string_view text, std::size_t at, unsigned char control) {
  std::size_t end = at + 2;
  if (control == 0x9b) {
    while (end < text.size() && text[end] >= 0x20 && text[end] <= 0x3f) ++end;
    return end < text.size() && text[end] >= 0x40 && text[end] <= 0x7e ? end + 1 : end;
  }
  const bool is_string = control == 0x90 || control == 0x98 || control >= 0x9d;
  if (!is_string) return end;
  const std::size_t terminator = text.substr(0, text.find('\n', end)).find("\xc2\x9c", end);
  return terminator == std::string_view::npos ? end : terminator + 2;
}

/// Valid UTF-8 without the control characters U+0080 to U+009F and the sequences they begin.
std::string repaired(std::string_view text) {
  std::string out = repair_utf8(text);
  for (std::size_t at = 0; (at = out.find('\xc2', at)) != std::string::npos;) {
    if (const auto control = c1_control(out, at))
      out.erase(at, end_of_sequence(out, at, control) - at);
    else
      at += 2;
  }
  return out;
}

bool is_ascii(std::string_view text) {
  unsigned char seen = 0;
  for (const char c : text) seen = static_cast<unsigned char>(seen | c);
  return seen < 0x80;
}

void append_repaired(std::string_view text, std::string& out) {
  if (is_ascii(text))
    out += text;
  else
    out += repaired(text);
}

/// How many bytes at the end begin an incomplete character.
std::size_t begun_character(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80) continue;
    if (byte < 0xc2 || byte > 0xf4) return 0;  // no character of several bytes begins so (RFC 3629)
    const std::size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? back : 0;
  }
  return 0;
}

/// How many bytes at the end begin an incomplete CSI of two bytes (U+009B).
std::size_t begun_csi(std::string_view text) {
  const std::size_t at = text.rfind("\xc2\x9b");
  if (at == std::string_view::npos) return 0;
  return end_of_sequence(text, at, 0x9b) == text.size() && (text.back() & 0xc0) != 0x40
             ? text.size() - at
             : 0;
}

}  // namespace

std::string TerminalText::feed(std::string_view bytes) {
  paused_ = paused_ && bytes.empty();
  std::string out;
  for (std::size_t i = 0; i < bytes.size();) {
    if (state_ != State::text) {
      in_sequence(bytes[i++], out);
      continue;
    }
    std::size_t end = i + plain_bytes(bytes.substr(i));
    if (end > i) plain(bytes.substr(i, end - i), out);
    if (end < bytes.size()) control(bytes[end++]);
    i = end;
  }
  return out;
}

std::string TerminalText::pause() {
  const bool nothing_comes = std::exchange(paused_, true);
  if (nothing_comes) give_up_sequence();
  const std::size_t begun = nothing_comes ? 0 : std::max(begun_character(line_), begun_csi(line_));
  const std::size_t whole = line_.size() - begun;
  std::string out;
  append_repaired(std::string_view(line_).substr(0, whole), out);
  line_.erase(0, whole);
  return out;
}

std::string TerminalText::finish() {
  std::string out;
  append_repaired(line_, out);
  line_.clear();
  return out;
}

/// Shows the text of an unterminated string sequence: the program may wait for an answer to it.
void TerminalText::give_up_sequence() {
  if (state_ == State::string || state_ == State::string_escape) line_ += string_;
  state_ = State::text;
  string_.clear();
}

void TerminalText::plain(std::string_view run, std::string& out) {
  if (returned_ && run.front() != '\n') line_.clear();
  returned_ = false;
  const std::size_t last = run.rfind('\n');
  if (last != std::string_view::npos) {
    const std::size_t first = run.find('\n');
    line_ += run.substr(0, first + 1);
    append_repaired(line_, out);
    line_.clear();
    if (last > first) append_repaired(run.substr(first + 1, last - first), out);
    run.remove_prefix(last + 1);
  }
  line_ += run;
  if (line_.size() > kLongestLine) flush_long_line(out);
}

void TerminalText::flush_long_line(std::string& out) {
  // The last bytes may be the beginning of a character.
  const std::string_view whole = utf8_prefix(line_, line_.size() - 4);
  append_repaired(whole, out);
  line_.erase(0, whole.size());
}

void TerminalText::control(char byte) {
  if (byte == '\r') {
    returned_ = true;
  } else if (byte == kBackspace) {
    while (!line_.empty() && (line_.back() & 0xc0) == 0x80) line_.pop_back();
    if (!line_.empty()) line_.pop_back();
  } else if (byte == kEscape) {
    state_ = State::escape;
    sequence_bytes_ = 0;
    string_.clear();
  }
}

void TerminalText::in_sequence(char byte, std::string& out) {
  const auto code = static_cast<unsigned char>(byte);
  const bool in_string = state_ == State::string || state_ == State::string_escape;
  if (++sequence_bytes_ > kLongestSequence || byte == '\n' || (code == 0x18 || code == 0x1a)) {
    state_ = State::text;  // CAN and SUB end a sequence, and a new line ends it here
    if (byte == '\n') plain("\n", out);
    return;
  }
  if (byte == kEscape) {
    state_ = in_string ? State::string_escape : State::escape;
    return;
  }
  switch (state_) {
    case State::escape:
      if (byte == '[')
        state_ = State::csi;
      else if (byte == ']' || byte == 'P' || byte == 'X' || byte == '^' || byte == '_')
        state_ = State::string;  // OSC, DCS, SOS, PM, APC
      else
        state_ = code >= 0x20 && code <= 0x2f ? State::intermediate : State::text;
      return;
    case State::intermediate:
      if (code < 0x20 || code > 0x2f) state_ = State::text;
      return;
    case State::csi:
      if (code >= 0x40 && code <= 0x7e) state_ = State::text;
      return;
    case State::string:
      if (byte == kBell)
        state_ = State::text;
      else if (kPlainBytes[code])
        string_ += byte;
      return;
    case State::string_escape:
      state_ = byte == '\\' ? State::text : State::string;
      return;
    case State::text:
      return;
  }
}

}  // namespace sortie
