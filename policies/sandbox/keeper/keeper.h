#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/process/launcher.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// Which layers hold in a run's sandbox.
struct SandboxLayers {
  bool namespaces = false;  ///< user or real, mount, network, IPC, UTS and PID
  int landlock_abi = 0;     ///< 0: none
  bool seccomp = false;
  bool cgroup = false;
  bool connect_gate = false;  ///< connect(2) is answered by sortie: `allow-list` without namespaces
  std::vector<std::string> missing;  ///< "namespaces: unshare: Operation not permitted"
  std::vector<std::string> notes;    ///< what else is missing without breaking a promise
};

/// The process that holds a run's namespaces and view and starts every command (docs/sandbox.md).
///
/// Forked while this process has a single thread; it lives as long as this object and dies, with
/// all it started, when this process does, also by SIGKILL.
class Keeper {
 public:
  /// Forks the keeper and waits until the view stands.
  /// @throws Error  ExitCode::environment, with the step that failed and a remedy
  explicit Keeper(const SandboxProfile& profile);
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper();

  /// The workspace's root as commands see it (O_PATH), for sortie's own file work.
  const Fd& view_root() const;
  const SandboxLayers& layers() const;
  /// The end of the channel over which each command's connect(2) listener comes, for a ConnectGate;
  /// once, and nothing where the profile has no gate. Until it is served, connecting waits.
  Fd take_connect_gate();
  /// The listener at kProxyAddress and kProxyPort inside the run's network, for an EgressProxy:
  /// once, and nothing where the profile has none. Nothing but the run's commands can connect to
  /// it.
  Fd take_proxy_listener();
  /// Starts confined commands; lives as long as the keeper.
  Launcher& launcher();
  /// No command will give the name of this private set again (Command::private_set): what it keeps
  /// in memory is free once the last one that runs in it has ended.
  void drop_private_set(const std::string& name);
  /// Ends everything and waits. @return whether it is proved that no process is left.
  bool shut_down();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sortie
