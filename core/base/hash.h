#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace sortie {

/// SHA-256 (FIPS 180-4) of the bytes as 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);
/// SHA-1 likewise, 40 digits: to tell names apart, never where someone could gain by a collision.
std::string sha1_hex(std::string_view bytes);

/// SHA-256 of bytes that come in parts.
class Sha256 {
 public:
  Sha256();
  Sha256(const Sha256& other);  ///< goes on from where the other is
  Sha256& operator=(Sha256 other) noexcept;
  ~Sha256();
  void update(std::string_view bytes);
  /// The digest as hex; the object is spent afterwards.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sortie
