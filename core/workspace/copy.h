#pragma once

#include <memory>
#include <string>

#include "core/workspace/workspace.h"

namespace sortie {

/// A workspace that is a copy of the user's tree in the state folder, bind-mounted over the tree's
/// path if the keeper can mount. Permissions, links, holes and times are kept, hard links are not;
/// pipes, sockets and devices are left out. Changes are found with a manifest of the copy.
///
/// Copies the tree, or reuses the complete copy of an earlier run in options.state.
/// @throws Error  ExitCode::environment: tree too large, unreadable file, disk full
std::unique_ptr<Workspace> make_copy(const WorkspaceOptions& options, std::string reason);

}  // namespace sortie
