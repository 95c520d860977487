#pragma once

#include "policies/sandbox/profile.h"
#include "policies/sandbox/view/private_folders.h"
#include "policies/sandbox/view/view.h"

namespace sortie {

/// Puts new, empty folders in the place of HOME, /tmp, /var/tmp, /dev/shm and what else the view
/// keeps in its private file system: toolchains' layers, folders above mounts in HOME, terminals.
/// All other mounts stay, also those that lie below them.
///
/// To be called in a mount namespace that is a copy of the view's, by nobody else's command used.
/// @throws Error  with the path
PrivateFolders renew_private_folders(const SandboxProfile& profile, const View& view);

}  // namespace sortie
