#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "policies/egress/connection.h"

namespace sortie {

/// The only way out of a sandbox of network mode `allow-list`: an HTTP proxy (CONNECT and absolute
/// form, RFC 9110 and 9112) outside of it. It reads the host's name once, resolves it itself, and
/// connects to the address that it checked.
class EgressProxy {
 public:
  /// @param allow   `network.allow`
  /// @param report  told of every connection that was asked for, once it is decided and again
  /// never:
  ///                from the proxy's own threads, one at a time
  EgressProxy(std::vector<std::string> allow, std::function<void(const EgressConnection&)> report);
  EgressProxy(const EgressProxy&) = delete;
  EgressProxy& operator=(const EgressProxy&) = delete;
  /// Ends every connection and waits for the threads.
  ~EgressProxy();

  /// Serves what connects to the listener: a TCP socket that was made in the run's network
  /// namespace, so that nothing but the run's commands can reach it.
  void listen(Fd listener);
  /// Serves one connected stream socket: what the connect gate made for a command.
  void adopt(Fd connection);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sortie
