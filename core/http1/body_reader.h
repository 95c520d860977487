#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/http1/message_head.h"

namespace sortie {

/// Takes a message's body out of a stream of bytes that is split anywhere, and finds its end.
///
/// Chunked (RFC 9112 §7.1): extensions are passed over, and trailer lines are read and dropped.
class BodyReader {
 public:
  explicit BodyReader(const BodyFraming& framing, const Http1Options& options = {});

  /// Takes bytes from the front and returns the piece of content found in them, which may be empty.
  /// Call it until nothing is left or the body is done or malformed.
  std::string_view next(std::string_view& bytes);
  /// The same until the bytes or the body end; appends the content.
  /// @return  how many bytes belong to the body
  std::size_t feed(std::string_view bytes, std::string& content);
  /// No more bytes will come. False when the body is not whole.
  bool finish();

  bool is_done() const noexcept { return state_ == State::done; }
  bool is_malformed() const noexcept { return !problem_.empty(); }
  /// What is malformed, or "".
  const std::string& problem() const noexcept { return problem_; }

 private:
  enum class State { content, chunk_size, chunk_content, chunk_end, trailer, done, malformed };

  std::string_view take_content(std::string_view& bytes);
  void pass_plain_size(std::string_view& bytes);
  void read_line(std::string_view& bytes);
  void read_chunk_size(std::string_view line);
  void fail(const char* problem);

  BodyFraming framing_;
  bool padded_chunk_size_;
  LineReader lines_;
  State state_ = State::content;
  std::uint64_t left_ = 0;           ///< bytes of the content or chunk to come
  std::uint64_t trailer_bytes_ = 0;  ///< so far
  std::string problem_;
};

/// Appends a piece of a body as the framing has it; an empty piece adds nothing.
void append_framed(const BodyFraming& framing, std::string_view content, std::string& out);
/// Appends what follows the last piece.
void append_body_end(const BodyFraming& framing, std::string& out);

}  // namespace sortie
