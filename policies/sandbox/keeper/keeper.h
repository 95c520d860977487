#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/process/launcher.h"
#include "policies/sandbox/profile.h"
#include "policies/sandbox/view/set_tree.h"

namespace sortie {

class EarlyKeeper;

/// The layers that are active in a run's sandbox.
struct SandboxLayers {
  bool namespaces = false;  ///< user or real, mount, network, IPC, UTS and PID
  int landlock_abi = 0;     ///< 0: none
  bool seccomp = false;
  bool cgroup = false;
  bool connect_gate = false;  ///< connect(2) is answered by sortie: `allow-list` without namespaces
  std::vector<std::string> missing;  ///< "namespaces: unshare: Operation not permitted"
  std::vector<std::string> notes;    ///< other missing parts, which break no guarantee
};

/// The process that holds a run's namespaces and view and starts every command (docs/sandbox.md).
///
/// Forked while this process has a single thread, or earlier (EarlyKeeper). It lives as long as this
/// object and is killed, with all it started, when this process ends, even by SIGKILL.
class Keeper {
 public:
  /// Its process id. Once it is gone, so are all processes of the run.
  int pid() const noexcept;
  /// Forks the keeper and waits until the view is built.
  /// @param meanwhile  is called with its id while it builds, and with -1 when it has failed, or `early`
  ///                   can't be taken: then no thread is left, since another one may be forked. It
  ///                   reads no keys
  /// @param early      a process to use, if it fits the profile; null for none. It is taken, or ended
  /// @throws Error  ExitCode::environment, with the step that failed and a remedy
  explicit Keeper(const SandboxProfile& profile, const std::function<void(int pid)>& meanwhile = {},
                  EarlyKeeper* early = nullptr);
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper();

  /// The workspace's root as commands see it (O_PATH), for sortie's own file work.
  const Fd& view_root() const;
  const SandboxLayers& layers() const;
  /// The channel that delivers each command's connect(2) listener, for a ConnectGate. Can be taken
  /// once; nothing if the profile has no gate. Until it is served, connect(2) blocks.
  Fd take_connect_gate();
  /// The listener at kProxyAddress and kProxyPort inside the run's network, for an EgressProxy. Can
  /// be taken once; nothing if the profile has none. Only the run's commands can connect to it.
  Fd take_proxy_listener();
  /// Starts confined commands; lives as long as the keeper.
  Launcher& launcher();
  /// Forgets the name of a private set (Command::private_set): its memory is freed after the last
  /// command in it.
  void drop_private_set(const std::string& name);
  /// Makes a private set whose commands see a tree of their own in place of the run's.
  /// @return  the tree's root without masks, for sortie's own writes
  /// @throws Error  ExitCode::environment, why it can't be mounted
  Fd make_tree(const SetTree& tree);
  /// Kills everything and waits. @return whether it is proved that no process is left
  bool shut_down();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sortie
