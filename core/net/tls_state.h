#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "core/net/connection.h"

namespace sortie {

struct FreeTls {
  void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
  void operator()(SSL* session) const { ::SSL_free(session); }
};
using TlsSession = std::unique_ptr<SSL, FreeTls>;

struct Tls::State {
  std::unique_ptr<SSL_CTX, FreeTls> context;
  /// Shakes hands over a connected, blocking socket, which stays the caller's. The certificate has
  /// to be this host's (name or address).
  /// @throws ConnectError
  TlsSession shake_hands(int descriptor, const std::string& host) const;
};

}  // namespace sortie
