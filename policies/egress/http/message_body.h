#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "policies/egress/http/http_fields.h"

namespace sortie {

/// Takes a message's body out of a stream of bytes, piece by piece, and finds its end.
///
/// Chunked (RFC 9112 §7.1): extensions are passed over and trailer fields are read and dropped, so
/// that what goes on is framed by us alone.
class BodyReader {
 public:
  explicit BodyReader(const BodyFraming& framing);

  /// Reads from the front of `bytes`, and appends the content to `content`.
  /// @return  how many bytes were used: no more than the body has, fewer where more must come first
  std::size_t feed(std::string_view bytes, std::string& content);
  /// No more bytes will come. False when the body is not whole.
  bool finish();

  bool is_done() const noexcept { return state_ == State::done; }
  bool is_malformed() const noexcept { return state_ == State::malformed; }

 private:
  enum class State { content, chunk_size, chunk_content, chunk_end, trailer, done, malformed };

  std::size_t take(std::string_view bytes, std::string& content, State next);
  std::size_t read_line(std::string_view bytes);
  void read_chunk_size(std::string_view line);
  void on_line(std::string_view line);

  BodyFraming framing_;
  State state_;
  std::uint64_t left_ = 0;   ///< of the content, or of the chunk
  std::uint64_t lines_ = 0;  ///< bytes of the chunk's size line or of the trailer so far
};

/// Frames a piece of a body for the one who gets it; an empty piece adds nothing.
void append_framed(const BodyFraming& framing, std::string_view content, std::string& out);
/// What stands after the last piece.
void append_body_end(const BodyFraming& framing, std::string& out);

}  // namespace sortie
