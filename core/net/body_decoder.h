#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sortie {

/// A body that its content coding can't have made, or that grows beyond all measure.
class BodyError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Undoes a content coding (RFC 9110 §8.4) as the bytes come: what a server has flushed is there at
/// once. We ask for none, but not every server and gateway heeds that.
class BodyDecoder {
 public:
  /// Whether the value of a Content-Encoding header names a coding that changes nothing.
  static bool is_identity(std::string_view coding);

  /// @param coding  of Content-Encoding: gzip, x-gzip or deflate (also without the zlib frame)
  /// @throws BodyError  for others
  explicit BodyDecoder(std::string_view coding);
  ~BodyDecoder();

  /// Decodes the next bytes; what is returned is good until the next call. Takes few at a time, so
  /// that no call yields more than some megabytes: call it until `bytes` is empty.
  /// @throws BodyError
  std::string_view next(std::string_view& bytes);

 private:
  struct State;
  std::string coding_;
  std::unique_ptr<State> state_;  ///< made with the first byte
  std::uint64_t taken_ = 0;
  std::uint64_t made_ = 0;
};

}  // namespace sortie
