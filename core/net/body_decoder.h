#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sortie {

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
