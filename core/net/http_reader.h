#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/http1/body_reader.h"
#include "core/http1/message_head.h"
#include "core/net/http.h"

namespace sortie {

/// Reads one HTTP/1.1 response from bytes as they come, split anywhere.
///
/// Source: RFC 9112, sections 4 to 7. Interim (1xx) responses are skipped. Servers in the field are
/// sloppy: what no other program reads after us is accepted, as Http1Options lists it.
class HttpReader {
 public:
  enum class State { head, body, done, broken };

  explicit HttpReader(std::size_t max_head_bytes);

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
  /// What is malformed, once broken; "" where the connection merely ended too early.
  const std::string& problem() const noexcept { return problem_; }

 private:
  void read_head_line(std::string_view& bytes);
  void end_head();
  void fail(std::string problem);

  std::size_t max_head_;
  std::size_t head_size_ = 0;
  LineReader lines_;
  State state_ = State::head;
  HttpHead head_;
  std::optional<BodyReader> body_;
  bool keep_ = true;
  std::string problem_;
};

/// A body that does not fit its content coding, or that grows beyond the limit.
class BodyError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Decodes a content coding (RFC 9110 §8.4) as the bytes come: what a server has flushed is available
/// at once. The client asks for none, but some servers and gateways send one all the same.
class BodyDecoder {
 public:
  /// Whether the value of a Content-Encoding header names a coding that changes nothing.
  static bool is_identity(std::string_view coding);

  /// @param coding  of Content-Encoding: gzip, x-gzip or deflate (also without the zlib frame)
  /// @throws BodyError  for others
  explicit BodyDecoder(std::string_view coding);
  ~BodyDecoder();

  /// Decodes the next bytes; the result is valid until the next call. It takes few at a time, so
  /// that no call returns more than some megabytes: call it until `bytes` is empty.
  /// @throws BodyError
  std::string_view next(std::string_view& bytes);

 private:
  struct State;
  std::string coding_;
  std::unique_ptr<State> state_;  ///< created with the first byte
  std::uint64_t taken_ = 0;
  std::uint64_t made_ = 0;
};

}  // namespace sortie
