#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace sortie::mcp {

/// Cuts a stream into lines without their LF or CRLF. A line past the limit is counted and not
/// held.
class LineReader {
 public:
  struct Sink {
    std::function<void(std::string_view)> line;
    std::function<void(std::size_t)> too_long;  ///< once a line, as soon as it is; its bytes so far
  };
  LineReader(std::size_t max_bytes, Sink sink) : max_bytes_(max_bytes), sink_(std::move(sink)) {}

  void feed(std::string_view bytes);
  /// Bytes of a line that has not ended.
  std::size_t pending() const noexcept { return held_.size(); }

 private:
  void give(std::string_view line);

  std::size_t max_bytes_;
  Sink sink_;
  std::string held_;
  bool passing_over_ = false;
};

}  // namespace sortie::mcp
