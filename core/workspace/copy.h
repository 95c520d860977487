#pragma once

#include <memory>
#include <string>

#include "core/workspace/workspace.h"

namespace sortie {

/// A workspace that is a copy of the user's tree in the state folder, bound over the tree's path
/// where the keeper can mount. Permissions, links, holes and times are kept, hard links are not;
/// pipes, sockets and devices are left out. What changed is found by a manifest of the copy.
///
/// Copies the tree, or takes the whole copy that a run before left in options.state.
/// @throws Error  ExitCode::environment: too large, a file that can't be read, a full disk
std::unique_ptr<Workspace> make_copy(const WorkspaceOptions& options, std::string reason);

}  // namespace sortie
