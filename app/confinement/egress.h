#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "app/confinement/confinement.h"
#include "core/record/workspace_events.h"
#include "policies/egress/gate/connect_gate.h"
#include "policies/egress/proxy.h"
#include "policies/egress/proxy_options.h"
#include "policies/environment/environment.h"

namespace sortie {

/// The proxy for network mode `allow-list`, over the listener in the run's own network or behind the
/// connect gate. Starts threads: make it after the keeper, and destroy it after the keeper's end.
class Egress {
 public:
  /// @param own     sortie's own environment
  /// @param report  called for each connection, by other threads, one at a time
  /// @throws Error  ExitCode::environment: the mode can't be enforced here
  Egress(const Policy& policy, Confinement& confinement, const Environment& own,
         EgressProxy::Report report);
  /// Earlier connections, which are the canary's, are not reported.
  void report_from_now_on() noexcept { reports_ = true; }

 private:
  std::atomic<bool> reports_ = false;
  std::unique_ptr<EgressProxy> proxy_;
  std::unique_ptr<ConnectGate> gate_;  ///< hands connections to the proxy: ended before it
};

/// A connection as the transcript records it.
NetworkRecord network_record(const EgressConnection& connection);

}  // namespace sortie
