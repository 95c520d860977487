#include "core/base/hash.h"

#include <openssl/evp.h>

#include "core/base/error.h"

namespace sortie {

namespace {

std::string hex_of(const unsigned char* digest, unsigned length) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * length);
  for (unsigned i = 0; i < length; ++i) {
    hex += kDigits[digest[i] >> 4];
    hex += kDigits[digest[i] & 15];
  }
  return hex;
}

}  // namespace

namespace {

/// Looked up once: looking it up for each hash costs more than hashing a small file.
const EVP_MD* sha256() {
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA2-256", nullptr);
  return algorithm;
}

}  // namespace

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  if (sha256() == nullptr || EVP_DigestInit_ex(state_->context, sha256(), nullptr) != 1)
    throw Error("SHA-256 is not available in this OpenSSL");
}

Sha256::Sha256(const Sha256& other) : state_(std::make_unique<State>()) {
  if (EVP_MD_CTX_copy_ex(state_->context, other.state_->context) != 1)
    throw Error("SHA-256 state could not be copied");
}

Sha256& Sha256::operator=(Sha256 other) noexcept {
  state_.swap(other.state_);
  return *this;
}

Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

std::string Sha256::finish() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  EVP_DigestFinal_ex(state_->context, digest, &length);
  return hex_of(digest, length);
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

std::string sha1_hex(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest, &length, EVP_sha1(), nullptr) != 1)
    throw Error("SHA-1 is not available in this OpenSSL");
  return hex_of(digest, length);
}

}  // namespace sortie
