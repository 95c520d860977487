#include "core/text/output_buffer.h"

#include <algorithm>
#include <cstdio>

#include "core/text/text.h"

namespace sortie {
namespace {

/// Bytes kept beyond each half, to see whether a character ends there.
constexpr std::size_t kSpare = 4;

constexpr std::string_view kWhere = "; the whole output is in ";
constexpr std::string_view kEnd = " …";

/// Counts in blocks of a constant length, whose count fits into a byte: the compiler vectorizes
/// that even with -O2.
std::uint64_t newlines_in(std::string_view text) {
  constexpr std::size_t kBlock = 128;
  std::uint64_t newlines = 0;
  for (; text.size() >= kBlock; text.remove_prefix(kBlock)) {
    const char* const block = text.data();
    unsigned char count = 0;
    for (std::size_t i = 0; i < kBlock; ++i)
      count = static_cast<unsigned char>(count + (block[i] == '\n'));
    newlines += count;
  }
  for (const char c : text) newlines += c == '\n';
  return newlines;
}

}  // namespace

void HeadTail::feed(std::string_view text) {
  if (text.empty()) return;
  total_bytes_ += text.size();
  newlines_ += newlines_in(text);
  ends_in_newline_ = text.back() == '\n';
  const std::size_t kept = half_ + kSpare;
  const std::size_t room = kept - std::min(kept, head_.size());
  if (tail_.empty()) {
    const std::size_t taken = std::min(room, text.size());
    head_ += text.substr(0, taken);
    text.remove_prefix(taken);
  }
  // The tail may grow to twice its size before it is cut, so that each byte moves once on average.
  if (text.size() >= kept) {
    tail_ = text.substr(text.size() - kept);
    return;
  }
  tail_ += text;
  if (tail_.size() > 2 * kept) tail_.erase(0, tail_.size() - kept);
}

std::uint64_t HeadTail::total_lines() const noexcept {
  return newlines_ + (ends_in_newline_ ? 0 : 1);
}

std::string_view HeadTail::shown_head() const {
  const std::string_view head = utf8_prefix(head_, half_);
  const std::size_t end = head.rfind('\n');
  return end == std::string_view::npos ? head : head.substr(0, end + 1);
}

std::string_view HeadTail::shown_tail() const {
  const std::string_view tail = utf8_suffix(tail_, half_);
  const std::size_t end = tail.find('\n');
  return end == std::string_view::npos || end + 1 == tail.size() ? tail : tail.substr(end + 1);
}

std::uint64_t HeadTail::left_out_bytes() const {
  return cut() ? total_bytes_ - shown_head().size() - shown_tail().size() : 0;
}

std::string HeadTail::render(std::string_view where) const {
  if (!cut()) return head_ + tail_;
  const std::string_view head = shown_head();
  const std::string_view tail = shown_tail();
  const std::uint64_t lines =
      newlines_ - std::min(newlines_, newlines_in(head) + newlines_in(tail));
  std::string text(head);
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += "… ";
  if (lines > 0) text += std::to_string(lines) + (lines == 1 ? " line (" : " lines (");
  text += size_in_words(left_out_bytes());
  text += lines > 0 ? ") left out" : " left out";
  if (!where.empty()) text.append(kWhere).append(where);
  text.append(kEnd).append("\n");
  return text.append(tail);
}

HeadTail HeadTail::narrowed(std::size_t limit) const {
  HeadTail narrow(limit);
  const std::size_t kept = narrow.half_ + kSpare;
  if (limit >= 2 * half_) return *this;
  if (!cut()) {
    narrow.feed(head_ + tail_);
    return narrow;
  }
  narrow.head_ = head_.substr(0, kept);
  narrow.tail_ = tail_.substr(tail_.size() - std::min(tail_.size(), kept));
  narrow.total_bytes_ = total_bytes_;
  narrow.newlines_ = newlines_;
  narrow.ends_in_newline_ = ends_in_newline_;
  return narrow;
}

CollectedOutput OutputBuffer::collected(const HeadTail& shown, std::string_view where) const {
  return {.shown = shown.render(where),
          .recorded = recorded_.render(),
          .total_bytes = shown.total_bytes(),
          .total_lines = shown.total_lines(),
          .left_out_bytes = shown.left_out_bytes(),
          .whole = std::string(shown.cut() ? where : std::string_view()),
          .recorded_cut = recorded_.cut()};
}

std::string size_in_words(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  if (bytes < 1u << 20) return std::to_string(bytes >> 10) + " KiB";
  char text[40];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

}  // namespace sortie
