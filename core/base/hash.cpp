#include "core/base/hash.h"

#include <openssl/sha.h>

#include <span>

namespace sortie {

namespace {

std::string hex_of(std::span<const unsigned char> digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex(2 * digest.size(), '\0');
  for (std::size_t i = 0; i < digest.size(); ++i) {
    hex[2 * i] = kDigits[digest[i] >> 4];
    hex[2 * i + 1] = kDigits[digest[i] & 15];
  }
  return hex;
}

}  // namespace

// OpenSSL's functions for one algorithm are deprecated in favour of its providers. But looking a
// provider up loads its configuration, which takes longer than all that is hashed at a run's start.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

struct Sha256::State {
  SHA256_CTX context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) { SHA256_Init(&state_->context); }

Sha256::Sha256(const Sha256& other) : state_(std::make_unique<State>(*other.state_)) {}

Sha256& Sha256::operator=(Sha256 other) noexcept {
  state_.swap(other.state_);
  return *this;
}

Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  SHA256_Update(&state_->context, bytes.data(), bytes.size());
}

std::string Sha256::finish() {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256_Final(digest, &state_->context);
  return hex_of(digest);
}

std::string sha256_hex(std::string_view bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes.data(), bytes.size());
  SHA256_Final(digest, &context);
  return hex_of(digest);
}

std::string sha1_hex(std::string_view bytes) {
  SHA_CTX context;
  SHA1_Init(&context);
  SHA1_Update(&context, bytes.data(), bytes.size());
  unsigned char digest[SHA_DIGEST_LENGTH];
  SHA1_Final(digest, &context);
  return hex_of(digest);
}

#pragma GCC diagnostic pop

}  // namespace sortie
