#pragma once

#include <functional>
#include <memory>

#include "core/base/fd.h"
#include "policies/egress/gate/connect_answer.h"
#include "policies/egress/proxy_options.h"

namespace sortie {

/// Network mode `allow-list` for commands without a network namespace of their own: the gate
/// answers each connect(2) of theirs in place of the kernel. A call to the proxy's address gets one
/// end of a new connection, whose other end is passed to the proxy; all others fail. One thread
/// answers for all commands; no command can block it.
class ConnectGate {
 public:
  struct Parts {
    GatedCommands commands;
    std::function<void(Fd)> adopt;  ///< receives the proxy's end of a connection
    /// Called for each denied attempt; those past the first thousand are only counted.
    std::function<void(const EgressConnection&)> report;
  };

  /// Starts the thread, which calls `adopt` and `report`.
  /// @param source  the socket that delivers the commands' listeners (Keeper::take_connect_gate)
  /// @throws Error
  ConnectGate(Fd source, Parts parts);
  ConnectGate(const ConnectGate&) = delete;
  ConnectGate& operator=(const ConnectGate&) = delete;
  /// Waits for the thread. Later calls of connect(2) fail with ENOSYS.
  ~ConnectGate();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Tests the whole mechanism with a process that runs as the commands will: filter, listener,
/// reading that process's memory, and replacing its socket. Call it while single-threaded.
/// @return "" if it works, else why not
std::string probe_connect_gate(uid_t uid, gid_t gid);

}  // namespace sortie
