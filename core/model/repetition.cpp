#include "core/model/repetition.h"

#include <algorithm>

namespace sortie {

namespace {

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

bool RepetitionGuard::feed(std::string_view piece) {
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
      take(c);  // no UTF-8: counted as it is
    }
  }
  return !passage_.empty();
}

/// The ASCII characters that the piece begins with, all at once up to the next look: most of most
/// texts. @return  how many
std::size_t RepetitionGuard::take_ascii(std::string_view piece) {
  const auto ascii = piece.substr(0, kStep - unseen_);
  const auto end = std::find_if(ascii.begin(), ascii.end(),
                                [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  last_.append(ascii.begin(), end);
  const auto count = static_cast<std::size_t>(end - ascii.begin());
  unseen_ += count;
  if (unseen_ >= kStep) look();
  return count;
}

void RepetitionGuard::take(char32_t character) {
  last_ += character;
  if (++unseen_ >= kStep) look();
}

void RepetitionGuard::look() {
  unseen_ = 0;
  if (last_.size() < kWindow || !passage_.empty()) return;
  last_.erase(0, last_.size() - kWindow);
  for (std::size_t period = kShortest; period <= kLongest; ++period) {
    const auto shift = static_cast<std::ptrdiff_t>(period);
    // The end first: most periods are ruled out by their first character.
    if (!std::equal(last_.rbegin(), last_.rend() - shift, last_.rbegin() + shift)) continue;
    for (auto c = last_.end() - shift; c != last_.end(); ++c) append_utf8(passage_, *c);
    return;
  }
}

}  // namespace sortie
