#pragma once

#include <memory>

#include "core/workspace/workspace.h"
#include "core/workspace/workspace_options.h"

namespace sortie {

/// Picks the isolation. @throws Error with ExitCode::environment, reason and remedy, where a mode
/// asked for by name can't be had, or none can.
std::unique_ptr<Workspace> open_workspace(const WorkspaceOptions& options);

}  // namespace sortie
