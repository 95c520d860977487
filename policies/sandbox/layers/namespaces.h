#pragma once

#include <sys/types.h>

#include <functional>

#include "core/base/fd.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// Whether mounts and namespaces can be made without a user namespace: root with CAP_SYS_ADMIN and
/// CAP_SYS_CHROOT.
bool is_admin() noexcept;

/// Whether the kernel's release is this one or a later one.
bool kernel_is(int major, int minor) noexcept;

/// As fork(2), with new namespaces (clone(2) CLONE_NEW…): 0 in the child, -1 with errno set.
/// The caller has a single thread.
/// @param group  the folder of the child's control group; none: the caller's
pid_t clone_process(unsigned long flags, const Fd& group = Fd()) noexcept;

/// The CLONE_NEW… flags of a run: user (if not admin), PID, mount, IPC, UTS, and network unless
/// some commands may use the machine's: then the keeper stays there, and make_network() makes the
/// namespace for the others.
unsigned long run_namespaces(const SandboxProfile& profile) noexcept;

/// In a new user namespace: maps the ids one to one, setgroups denied. @throws Error
void map_own_ids(uid_t uid, gid_t gid);

/// Brings up "lo" of a new network namespace. @throws Error
void raise_loopback();

/// Makes a network namespace with only a loopback, for setns(2); does not enter it. It lives as
/// long as the descriptor. @throws Error
Fd make_network();

/// Runs `make` in a short-lived child inside a network namespace, and returns its descriptor.
/// @param network  from make_network(); none: runs `make` here
/// @throws Error  from `make`
Fd made_in_network(const Fd& network, const std::function<Fd()>& make);

}  // namespace sortie
