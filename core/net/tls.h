#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "core/net/connect_error.h"
#include "core/net/trusted_certificates.h"

namespace sortie {

struct FreeTls {
  void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
  void operator()(SSL* session) const { ::SSL_free(session); }
};
using TlsSession = std::unique_ptr<SSL, FreeTls>;

/// The TLS settings, made with the first https connection: loading certificates takes time.
class Tls {
 public:
  explicit Tls(TrustedCertificates certificates);
  ~Tls();
  struct State;
  /// @throws Error  environment: the certificates named can't be read
  State& state();

 private:
  TrustedCertificates certificates_;
  std::unique_ptr<State> state_;
};

struct Tls::State {
  std::unique_ptr<SSL_CTX, FreeTls> context;
  /// Shakes hands over a connected, blocking socket, which stays the caller's. The certificate has
  /// to be this host's (name or address).
  /// @throws ConnectError
  TlsSession shake_hands(int descriptor, const std::string& host) const;
};

}  // namespace sortie
