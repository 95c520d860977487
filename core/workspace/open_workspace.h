#pragma once

#include <memory>

#include "core/workspace/workspace.h"
#include "core/workspace/workspace_options.h"

namespace sortie {

/// Chooses the isolation. @throws Error  ExitCode::environment, with reason and remedy, if the
/// requested mode does not work here, or none does
std::unique_ptr<Workspace> open_workspace(const WorkspaceOptions& options);

}  // namespace sortie
