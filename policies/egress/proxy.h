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

/// The only way out of a sandbox of network mode `allow-list`: an HTTP proxy (CONNECT and absolute
/// form, RFC 9110 and 9112) outside of it. It reads the host's name once, resolves it itself, and
/// connects to the address that it checked. docs/network.md tells what it checks.
class EgressProxy {
 public:
  using Report = EgressReport;

  /// Starts the proxy's thread, which takes no signals.
  /// @param allow  `network.allow`
  /// @param ahead  proxies that stand between this machine and the network: what they lead to is
  ///               decided on before, and looked up by them
  /// @throws InputError  for an entry that can't be read
  EgressProxy(const std::vector<std::string>& allow, Report report, ProxySettings ahead = {});
  EgressProxy(const std::vector<std::string>& allow, Report report, const EgressLimits& limits,
              std::shared_ptr<HostResolver> resolver, ProxySettings ahead = {});
  EgressProxy(const EgressProxy&) = delete;
  EgressProxy& operator=(const EgressProxy&) = delete;
  /// Ends every connection, reports it, and waits for the thread.
  ~EgressProxy();

  /// Serves what connects to the listener: a TCP socket that was made in the run's network
  /// namespace, so that nothing but the run's commands can reach it. From any thread.
  void listen(Fd listener);
  /// Serves one connected stream socket: what the connect gate made for a command. From any thread;
  /// beyond the limit of connections it is closed unanswered.
  void adopt(Fd connection);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sortie
