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
  for (const char byte : piece) {
    const auto c = static_cast<unsigned char>(byte);
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

void RepetitionGuard::take(char32_t character) {
  last_ += character;
  if (++unseen_ >= kStep && passage_.empty()) look();
}

void RepetitionGuard::look() {
  unseen_ = 0;
  if (last_.size() < kWindow) return;
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
