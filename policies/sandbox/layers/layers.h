#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "policies/sandbox/profile.h"

namespace sortie {

/// The confinement of one command that needs no namespace, prepared before fork so that applying
/// it neither allocates nor throws (signal-safety(7)).
///
/// Order in the child: limits → ids → capabilities → no_new_privs → Landlock → seccomp → exec.

/// Landlock (landlock(7)): files, TCP ports, abstract sockets and signals, as far as the kernel
/// supports them. Own constants, since Debian 12's headers stop at ABI 2.
class LandlockRules {
 public:
  /// Opens the paths; missing ones are skipped. With namespaces the rules only repeat the view;
  /// without, they are the only restriction.
  LandlockRules(const SandboxProfile& profile, const CommandProfile& command);
  LandlockRules(const LandlockRules&) = delete;
  LandlockRules& operator=(const LandlockRules&) = delete;
  ~LandlockRules();
  /// landlock_restrict_self on the calling thread. 0 or the errno. no_new_privs must be set.
  int apply() const noexcept;
  /// 0: the kernel has none.
  static int kernel_abi() noexcept;

 private:
  int ruleset_ = -1;
};

/// The system call filter (seccomp(2)), compiled once a run by libseccomp into BPF.
class SeccompFilter {
 public:
  /// @throws Error  environment
  explicit SeccompFilter(const SandboxProfile& profile);
  /// One that another process has compiled.
  /// @param program  of a filter for this profile
  SeccompFilter(const SandboxProfile& profile, std::string_view program);
  /// seccomp(SECCOMP_SET_MODE_FILTER). 0 or the errno. no_new_privs must be set.
  /// @param listener  with a connect gate, set to a descriptor that receives and answers each
  ///                  connect(2) (seccomp_unotify(2)); without it, or once it is closed, these
  ///                  calls fail with ENOSYS
  int apply(int* listener = nullptr) const noexcept;

  /// In bytes: struct sock_filter[], "" where nothing is refused.
  const std::string& program() const noexcept { return program_; }

 private:
  std::string program_{};
  bool notifies_ = false;
};

/// Sets resource_limits() on the calling process, and the limits of CPU time and tasks. 0 or the
/// errno.
/// @param cpu_seconds  for one process; 0: no limit
int apply_resource_limits(const SandboxProfile& profile, std::uint64_t cpu_seconds = 0) noexcept;

/// The CPU time that one process could use on all CPUs within a command's time limit, or the
/// policy's if that is longer: no well-behaved process reaches it.
std::uint64_t cpu_seconds(const SandboxProfile& profile, std::chrono::milliseconds timeout);

/// Does the first half of drop_privileges() for this process and those that it starts: no program
/// that they execute gets a capability. What this process has itself it keeps. 0 or the errno.
int close_capability_sets() noexcept;

/// Drops every capability (bounding, ambient, permitted, inheritable) and, as root, becomes uid:gid
/// without supplementary groups. 0 or the errno.
int drop_privileges(uid_t uid, gid_t gid) noexcept;

}  // namespace sortie
