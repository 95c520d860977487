#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sortie {

/// One server-sent event; the views are valid until the callback returns.
struct SseEvent {
  std::string_view name;  ///< "" where the stream names none (the standard's "message")
  std::string_view data;  ///< lines joined by LF
};

/// An event that is longer than the parser takes.
class SseError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Cuts a byte stream into server-sent events: CR, LF and CRLF, comments, several data lines, a
/// byte order mark, unknown fields; the stream may be split at any byte.
///
/// An event that the stream's end cuts off is dropped, as the standard says. Bytes are not decoded:
/// invalid UTF-8 is for the reader of the data to refuse.
///
/// Source: WHATWG HTML, "Server-sent events", parsing an event stream.
class SseParser {
 public:
  static constexpr std::size_t kMaxEventBytes = 32u << 20;
  using Sink = std::function<void(const SseEvent&)>;

  explicit SseParser(std::size_t max_event_bytes = kMaxEventBytes) : max_bytes_(max_event_bytes) {}

  /// @throws SseError  when an event grows past the limit; the parser can't be used afterwards
  void feed(std::string_view bytes, const Sink& sink);

  /// For clients that reconnect. The id of the last event that was complete ("" before one, and
  /// where the stream took it back), and how long the stream asks to wait first. An id may be any
  /// bytes but CR, LF and NUL.
  const std::string& last_event_id() const noexcept { return last_id_; }
  std::optional<std::chrono::milliseconds> retry() const noexcept { return retry_; }

 private:
  void line(std::string_view text, const Sink& sink);
  void dispatch(const Sink& sink);
  void set_retry(std::string_view digits);
  void check(std::size_t more) const;

  std::size_t max_bytes_;
  std::string partial_;         ///< a line whose end has not arrived
  std::string joined_;          ///< a line that began in an earlier chunk
  std::string name_;            ///< of the current event
  std::string data_;            ///< its data lines, joined
  std::string_view only_line_;  ///< its data while that is one line of the chunk being fed
  std::size_t data_lines_ = 0;
  std::string id_;       ///< of the current event; kept for those that name none
  std::string last_id_;  ///< of the last complete event
  std::optional<std::chrono::milliseconds> retry_;
  std::size_t mark_bytes_ = 0;  ///< bytes of a byte order mark seen so far
  bool started_ = false;        ///< past the byte order mark
  bool after_cr_ = false;       ///< an LF next belongs to the CR before
};

}  // namespace sortie
