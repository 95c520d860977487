#pragma once

#include <sys/types.h>

#include <memory>
#include <utility>

#include "core/base/fd.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// A keeper's process that is forked while its profile is still unknown, so that the kernel makes its
/// namespaces while the task and the policy are read. One Keeper can take it; it ends with this
/// object if none has.
class EarlyKeeper {
 public:
  /// Forks it, with the namespaces of most profiles, while this process has a single thread.
  /// @return  null if that fails: the Keeper's own attempt gives the reason
  static std::unique_ptr<EarlyKeeper> fork();
  EarlyKeeper(const EarlyKeeper&) = delete;
  EarlyKeeper& operator=(const EarlyKeeper&) = delete;
  ~EarlyKeeper() { end(); }

  /// -1 once it was taken or has ended.
  pid_t pid() const noexcept { return process_.pid; }
  /// The process and its socket. A process without an id is none.
  struct Process {
    pid_t pid = -1;
    Fd socket{};
  };
  /// Hands the process over with the profile and the commands' control group, or ends it if it has
  /// other namespaces than the profile needs.
  /// @param group  the group's folder; null for none
  /// @return  none if it does not fit, is taken already, or has died
  Process take(const SandboxProfile& profile, const Fd* group);
  /// Ends it, unless it was taken.
  void end() noexcept;

 private:
  EarlyKeeper(Process process, unsigned long namespaces)
      : process_(std::move(process)), namespaces_(namespaces) {}

  Process process_;
  unsigned long namespaces_;  ///< the flags that it was cloned with
};

}  // namespace sortie
