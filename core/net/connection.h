#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/net/http.h"
#include "core/net/proxy.h"
#include "core/net/watchdog.h"

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

/// A connection that could not be made; `what()` is for people.
class ConnectError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The proxy asks for credentials, or does not take those it was given.
class ProxyCredentialsError : public ConnectError {
  using ConnectError::ConnectError;
};

class Tls;

/// An open connection to one origin, with TLS where the address is https. Blocking; a watchdog
/// ends its waits.
class Connection {
 public:
  /// Looks the name up, connects (through the proxy) and shakes hands, all within the watchdog's
  /// present limit, which it watches from then on.
  /// @throws ConnectError
  Connection(const Url& url, const std::optional<Proxy>& proxy, Tls& tls, Watchdog& watchdog);
  ~Connection();

  const Url& origin() const noexcept { return origin_; }
  int descriptor() const noexcept { return descriptor_; }
  /// Whether the server has closed it, or sent what nobody asked for.
  bool is_stale() const;
  /// False when the connection broke, or brings an answer before it takes all.
  bool send(std::string_view bytes);
  /// Bytes read; 0 at the end or when the connection broke.
  std::size_t receive(char* buffer, std::size_t size);

 private:
  int send_some(std::string_view bytes);

  struct Socket;
  Url origin_;
  int descriptor_ = -1;
  std::unique_ptr<Socket> socket_;
};

}  // namespace sortie
