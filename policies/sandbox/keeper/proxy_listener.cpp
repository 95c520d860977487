#include "policies/sandbox/keeper/proxy_listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "core/base/error.h"
#include "policies/environment/proxy_address.h"

namespace sortie {

Fd listen_for_proxy() {
  Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kProxyPort);
  ::inet_pton(AF_INET, kProxyAddress, &address.sin_addr);
  if (!listener ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), SOMAXCONN) != 0)
    throw system_error("listen for the proxy", ExitCode::environment);
  return listener;
}

}  // namespace sortie
