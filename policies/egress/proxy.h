#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/net/proxy.h"
#include "policies/egress/name_lookup.h"
#include "policies/egress/proxy_options.h"

namespace sortie {

/// The only way out of a sandbox in network mode `allow-list`: an HTTP proxy (CONNECT and absolute
/// form, RFC 9110 and 9112) outside of it. It parses the host's name once, resolves it itself, and
/// connects to the address that it checked. docs/network.md lists its checks.
class EgressProxy {
 public:
  using Report = EgressReport;

  /// Starts the proxy's thread, which takes no signals.
  /// @param allow  `network.allow`
  /// @param ahead  proxies between this machine and the network: hosts are checked before, and
  ///               looked up by them
  /// @throws InputError  for an entry that can't be read
  EgressProxy(const std::vector<std::string>& allow, Report report, ProxySettings ahead = {});
  EgressProxy(const std::vector<std::string>& allow, Report report, const EgressLimits& limits,
              std::shared_ptr<HostResolver> resolver, ProxySettings ahead = {});
  EgressProxy(const EgressProxy&) = delete;
  EgressProxy& operator=(const EgressProxy&) = delete;
  /// Ends every connection, reports it, and waits for the thread.
  ~EgressProxy();

  /// Serves the connections to a listener: a TCP socket in the run's network namespace, so that
  /// only the run's commands can reach it. From any thread.
  void listen(Fd listener);
  /// Serves one connected stream socket, which the connect gate made for a command. From any
  /// thread; closed unanswered beyond the limit of connections.
  void adopt(Fd connection);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sortie
