#pragma once

#include "policies/sandbox/keeper/keeper_start.h"

namespace sortie {

/// Cuts the keeper's process off from what it was forked from: session, signals, descriptors but
/// its socket (which moves to 3), environment; finishes the namespaces it was cloned into.
/// @throws Error
void settle(KeeperStart& start);

/// Bounds what a fork bomb can do between two samples, by the PID namespace's own pid_max where
/// the kernel has one (Linux 6.14).
void bound_process_ids(const PolicyLimits& limits);

}  // namespace sortie
