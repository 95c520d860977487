#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "app/confinement/confinement.h"
#include "core/record/events.h"
#include "policies/egress/gate/connect_gate.h"
#include "policies/egress/proxy.h"
#include "policies/egress/proxy_options.h"
#include "policies/environment/environment.h"

namespace sortie {

/// The way out of a confinement whose network mode is `allow-list`: the proxy, over the listener in
/// the run's own network, or behind the connect gate. Starts threads: make it after the keeper, and
/// end it after the keeper's end.
class Egress {
 public:
  /// @param own     sortie's own environment
  /// @param report  told of each connection once asked for, by other threads, one at a time
  /// @throws Error  ExitCode::environment where the mode can't be held here
  Egress(const Policy& policy, Confinement& confinement, const Environment& own,
         EgressProxy::Report report);
  /// What came before is on no record: the canary's own connections.
  void report_from_now_on() noexcept { reports_ = true; }

 private:
  std::atomic<bool> reports_ = false;
  std::unique_ptr<EgressProxy> proxy_;
  std::unique_ptr<ConnectGate> gate_;  ///< hands connections to the proxy: ended before it
};

/// Why the proxy that the environment names can't lead to a listed host, or "": only http://
/// addresses of proxies are known.
std::string upstream_proxy_problem(const Policy& policy, const Environment& own);

/// A connection as the transcript holds it.
NetworkRecord network_record(const EgressConnection& connection);

}  // namespace sortie
