#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/net/http.h"

namespace sortie {

/// Reads one HTTP/1.1 response from bytes as they come, split anywhere.
///
/// Source: RFC 9112, sections 4 to 7. Interim (1xx) responses are skipped.
class HttpReader {
 public:
  enum class State { head, body, done, broken };

  explicit HttpReader(std::size_t max_head_bytes) : max_head_(max_head_bytes) {}

  /// Takes bytes from the front of `bytes` and returns the piece of the body found in them, which
  /// may be empty. Call it until nothing is left or the state is done or broken; returns at once
  /// when the head has become complete.
  std::string_view next(std::string_view& bytes);
  /// The connection has ended: done where only that ends the body, else broken.
  void at_end();

  State state() const noexcept { return state_; }
  const HttpHead& head() const noexcept { return head_; }
  /// Whether the connection may carry another request once this response is done.
  bool keeps_connection() const noexcept { return keep_; }
  /// What is wrong, once broken; "" where the connection merely ended too early.
  const std::string& problem() const noexcept { return problem_; }

 private:
  enum class Framing { none, length, chunked, until_end };
  enum class Chunk { size, data, end, trailer };

  bool take_line(std::string_view& bytes, std::size_t limit);
  void read_head_line();
  void end_head();
  std::string_view read_chunked(std::string_view& bytes);
  void read_chunk_size();
  std::string_view take_data(std::string_view& bytes);
  void fail(std::string why);

  std::size_t max_head_;
  State state_ = State::head;
  HttpHead head_;
  bool keep_ = true;
  std::string problem_;
  std::string line_;           ///< the line under way
  std::size_t head_size_ = 0;  ///< bytes of head or trailer lines so far
  Framing framing_ = Framing::none;
  Chunk chunk_ = Chunk::size;
  std::uint64_t left_ = 0;  ///< bytes of the body or chunk to come
};

}  // namespace sortie
