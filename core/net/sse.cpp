#include "core/net/sse.h"

#include <algorithm>

namespace sortie {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool ends_line(char c) { return c == '\n' || c == '\r'; }

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
    const auto end = std::find_if(bytes.begin(), bytes.end(), ends_line);
    const auto text = bytes.substr(0, static_cast<std::size_t>(end - bytes.begin()));
    check(text.size());
    if (end == bytes.end()) {
      partial_ += text;
      break;
    }
    after_cr_ = *end == '\r';
    bytes.remove_prefix(text.size() + 1);
    if (partial_.empty()) {
      line(text, sink);
    } else {
      // Only a chunk's first line can have begun before it: the joined line stays until the end.
      joined_ = std::move(partial_) + std::string(text);
      partial_.clear();
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
  }
  // `id` and `retry` are for clients that reconnect to a stream; a response can't be resumed.
}

void SseParser::dispatch(const Sink& sink) {
  const SseEvent event{name_, only_line_.data() ? only_line_ : std::string_view(data_)};
  if (data_lines_ > 0) sink(event);
  name_.clear();
  data_.clear();
  only_line_ = {};
  data_lines_ = 0;
}

void SseParser::check(std::size_t more) const {
  if (partial_.size() + data_.size() + only_line_.size() + more > max_bytes_)
    throw SseError("an event of the stream is longer than " + std::to_string(max_bytes_) +
                   " bytes");
}

}  // namespace sortie
