#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace sortie {

/// SHA-256 (FIPS 180-4) of the bytes as 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);
/// SHA-1 likewise, 40 digits: to distinguish names, never where a collision would be an attack.
std::string sha1_hex(std::string_view bytes);

/// SHA-256 of bytes that arrive in parts.
class Sha256 {
 public:
  Sha256();
  Sha256(const Sha256& other);  ///< continues from the other's state
  Sha256& operator=(Sha256 other) noexcept;
  ~Sha256();
  void update(std::string_view bytes);
  /// The digest as hex; the object can't be used afterwards.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sortie
