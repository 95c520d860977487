#include "core/net/sse.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "core/text/text.h"

namespace sortie {

namespace {

/// Larger buffers are given back: they may have megabytes.
constexpr std::size_t kKeptBytes = 64u << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Where the first line of the bytes ends; their size where that has not come.
std::size_t line_end(std::string_view bytes) {
  // Two searches for one byte are many times as fast as one for either.
  const std::size_t line_feed = std::min(bytes.find('\n'), bytes.size());
  return std::min(bytes.substr(0, line_feed).find('\r'), line_feed);
}

}  // namespace

void SseParser::feed(std::string_view bytes, const Sink& sink) {
  while (!started_ && !bytes.empty()) {
    if (bytes.front() == kByteOrderMark[mark_bytes_]) {
      bytes.remove_prefix(1);
      started_ = ++mark_bytes_ == kByteOrderMark.size();
    } else {  // What looked like a mark is the first line's beginning.
      partial_ = kByteOrderMark.substr(0, mark_bytes_);
      started_ = true;
    }
  }
  while (!bytes.empty()) {
    if (after_cr_) {
      after_cr_ = false;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    const auto text = bytes.substr(0, line_end(bytes));
    check(text.size());
    if (text.size() == bytes.size()) {
      grow_by(partial_, text);
      break;
    }
    after_cr_ = bytes[text.size()] == '\r';
    bytes.remove_prefix(text.size() + 1);
    if (partial_.empty()) {
      line(text, sink);
    } else {
      // Only a chunk's first line can have begun before it: the joined line stays until the end.
      joined_.swap(partial_);
      partial_.clear();
      joined_ += text;
      line(joined_, sink);
    }
  }
  if (only_line_.data()) {  // The chunk goes away.
    data_ = only_line_;
    only_line_ = {};
  }
}

void SseParser::line(std::string_view text, const Sink& sink) {
  if (text.empty()) return dispatch(sink);
  const std::size_t colon = text.find(':');
  if (colon == 0) return;  // a comment
  const std::string_view field = text.substr(0, colon);
  std::string_view value =
      colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  if (field == "event") {
    name_ = value;
  } else if (field == "data") {
    if (++data_lines_ == 1) {
      only_line_ = value.data() ? value : std::string_view("");
      return;
    }
    if (only_line_.data()) data_ = only_line_;
    only_line_ = {};
    data_ += '\n';
    data_ += value;
  } else if (field == "id") {
    if (value.find('\0') == std::string_view::npos) id_ = value;
  } else if (field == "retry") {
    set_retry(value);
  }
}

/// Accepts digits only, as the standard says; a number too large becomes the longest wait.
void SseParser::set_retry(std::string_view digits) {
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) return;
  constexpr std::int64_t kLongest = 1'000'000'000'000;
  std::int64_t wait = kLongest;
  std::from_chars(digits.data(), digits.data() + digits.size(), wait);
  retry_ = std::chrono::milliseconds(std::min(wait, kLongest));
}

void SseParser::dispatch(const Sink& sink) {
  if (id_ != last_id_) last_id_ = id_;
  const SseEvent event{name_, only_line_.data() ? only_line_ : std::string_view(data_)};
  if (data_lines_ > 0) sink(event);
  name_.clear();
  if (data_.capacity() > kKeptBytes) std::string().swap(data_);
  data_.clear();
  only_line_ = {};
  // The one long line of an event is often not the last: its buffer takes the next.
  joined_.clear();
  if (partial_.empty()) partial_.swap(joined_);
  data_lines_ = 0;
}

void SseParser::check(std::size_t more) const {
  if (partial_.size() + data_.size() + only_line_.size() + more > max_bytes_)
    throw SseError("an event of the stream is longer than " + std::to_string(max_bytes_) +
                   " bytes");
}

}  // namespace sortie
