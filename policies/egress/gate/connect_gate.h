#pragma once

#include <functional>
#include <memory>

#include "core/base/fd.h"
#include "policies/egress/gate/connect_answer.h"
#include "policies/egress/proxy_options.h"

namespace sortie {

/// Network mode `allow-list` where the commands have no network namespace of their own: each
/// connect(2) of theirs is put before this gate and answered in the kernel's place. What is meant
/// for the proxy gets one end of a new connection, whose other end is handed on; nothing else leads
/// anywhere. One thread answers for all commands; no command can make it wait.
class ConnectGate {
 public:
  struct Parts {
    GatedCommands commands;
    std::function<void(Fd)> adopt;  ///< takes the proxy's end of a connection
    /// Told of each attempt that was denied; of those past the first thousand by their number.
    std::function<void(const EgressConnection&)> report;
  };

  /// Starts the thread, which calls `adopt` and `report`.
  /// @param source  the socket over which the commands' listeners come (Keeper::take_connect_gate)
  /// @throws Error
  ConnectGate(Fd source, Parts parts);
  ConnectGate(const ConnectGate&) = delete;
  ConnectGate& operator=(const ConnectGate&) = delete;
  /// Waits for the thread. What still tries to connect gets ENOSYS.
  ~ConnectGate();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Tries the whole of it with a process of its own that runs as the commands will: filter,
/// listener, reading that process' memory, and putting a connection in its place. Call it while
/// single-threaded.
/// @return "" when it works, else why not
std::string probe_connect_gate(uid_t uid, gid_t gid);

}  // namespace sortie
