#include "core/model/repetition.h"

#include <algorithm>

namespace sortie {

namespace {

/// A longer line is not a fence: info strings are short.
constexpr std::size_t kLongestFenceLine = 200;

void append_utf8(std::string& text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xc0 | c >> 6);
    text += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    text += static_cast<char>(0xe0 | c >> 12);
    text += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    text += static_cast<char>(0xf0 | c >> 18);
    text += static_cast<char>(0x80 | (c >> 12 & 0x3f));
    text += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (c & 0x3f));
  }
}

}  // namespace

/// An unfinished line counts as the line before it did.
std::size_t FencedCode::read(std::string_view piece) {
  read_code_ = open_ != 0;
  const std::size_t newline = piece.find('\n');
  const std::string_view line = piece.substr(0, newline);
  if (may_be_fence_) {
    const std::size_t sign = begin_.find_first_not_of(' ') == std::string::npos
                                 ? line.find_first_not_of(' ')
                                 : std::string_view::npos;
    may_be_fence_ = (sign == std::string_view::npos || line[sign] == '`' || line[sign] == '~') &&
                    begin_.size() + line.size() <= kLongestFenceLine;
    if (may_be_fence_) begin_ += line;
  }
  if (newline == std::string_view::npos) return piece.size();
  end_line();
  return newline + 1;
}

/// A fence is three or more backticks or tildes after at most three spaces. A closing fence is at
/// least as long as the opening one, of the same character, and followed by white space only.
void FencedCode::end_line() {
  const std::size_t indent = std::min(begin_.find_first_not_of(' '), begin_.size());
  const std::string_view line = std::string_view(begin_).substr(indent);
  const char sign = line.empty() ? '\0' : line[0];
  const std::size_t run = std::min(line.find_first_not_of(sign), line.size());
  if (may_be_fence_ && indent <= 3 && run >= 3 && (sign == '`' || sign == '~')) {
    const std::string_view rest = line.substr(run);
    if (open_ == 0 && (sign == '~' || rest.find('`') == std::string_view::npos)) {
      open_ = sign;
      length_ = run;
    } else if (open_ == sign && run >= length_ &&
               rest.find_first_not_of(" \t\r") == std::string_view::npos) {
      open_ = 0;
    }
  }
  begin_.clear();
  may_be_fence_ = true;
}

bool RepetitionGuard::feed(std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t size = code_.read(piece);
    if (!code_.is_code()) feed_prose(piece.substr(0, size));
    piece.remove_prefix(size);
  }
  return !passage_.empty();
}

void RepetitionGuard::feed_prose(std::string_view piece) {
  while (!piece.empty()) {
    if (missing_ == 0) piece.remove_prefix(take_ascii(piece));
    if (piece.empty()) break;
    const auto c = static_cast<unsigned char>(piece.front());
    piece.remove_prefix(1);
    if (missing_ > 0 && (c & 0xc0) == 0x80) {
      partial_ = partial_ << 6 | (c & 0x3f);
      if (--missing_ == 0) take(partial_);
    } else if (c < 0x80 || c >= 0xf8) {
      missing_ = 0;
      take(c);
    } else if (c >= 0xc0) {
      missing_ = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
      partial_ = c & (0x3fu >> missing_);
    } else {
      take(c);  // not UTF-8: the byte counts as a character
    }
  }
}

/// Takes the ASCII characters at the beginning, up to the next check, at once: most texts are mostly
/// ASCII. @return  their number
std::size_t RepetitionGuard::take_ascii(std::string_view piece) {
  const auto most = piece.substr(0, kStep - unseen_);
  const auto end = std::find_if(most.begin(), most.end(),
                                [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  const auto count = static_cast<std::size_t>(end - most.begin());
  const std::size_t begin = last_.size();
  last_.resize(begin + count);
  std::copy(most.begin(), end, last_.begin() + static_cast<std::ptrdiff_t>(begin));
  unseen_ += count;
  if (unseen_ >= kStep) check();
  return count;
}

void RepetitionGuard::take(char32_t character) {
  last_ += character;
  if (++unseen_ >= kStep) check();
}

void RepetitionGuard::check() {
  unseen_ = 0;
  passage_.clear();
  if (last_.size() < kWindow) return;
  // Not at each check: moving the window costs more than looking at it.
  if (last_.size() >= kMostKept) last_.erase(0, last_.size() - kWindow);
  const std::u32string_view window = std::u32string_view(last_).substr(last_.size() - kWindow);
  for (std::size_t period = kShortest; period <= kLongest; ++period) {
    const auto shift = static_cast<std::ptrdiff_t>(period);
    // Compared from the end: most periods fail at the first character.
    if (!std::equal(window.rbegin(), window.rend() - shift, window.rbegin() + shift)) continue;
    for (auto c = window.end() - shift; c != window.end(); ++c) append_utf8(passage_, *c);
    return;
  }
}

}  // namespace sortie
