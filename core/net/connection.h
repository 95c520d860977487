#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/net/connect_error.h"
#include "core/net/http.h"
#include "core/net/proxy.h"
#include "core/net/watchdog.h"

namespace sortie {

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
