#pragma once

#include <sys/types.h>

#include "policies/policy.h"

namespace sortie {

/// Whether mounts and namespaces can be made without a user namespace: root with CAP_SYS_ADMIN.
bool is_admin() noexcept;

/// As fork(2), with new namespaces (clone(2) CLONE_NEW…): 0 in the child, -1 with errno set.
/// The caller has a single thread.
pid_t clone_process(unsigned long flags) noexcept;

/// The CLONE_NEW… flags of a run: user (where not admin), PID, mount, IPC, UTS, and network.
unsigned long run_namespaces(NetworkMode network) noexcept;

/// In a new user namespace: maps the ids one to one, setgroups denied. @throws Error
void map_own_ids(uid_t uid, gid_t gid);

/// Brings up "lo" of a new network namespace. @throws Error
void raise_loopback();

}  // namespace sortie
