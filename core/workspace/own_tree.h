#pragma once

#include <memory>
#include <string>

#include "core/workspace/workspace.h"

namespace sortie {

/// A workspace that is the user's own tree (isolation none): the run's changes appear in it at once.
/// Its state at the start is kept in options.state, from which undo_own_tree() puts it back.
///
/// Keeps the start, or reuses what an earlier process of the same run kept in options.state.
/// @throws Error  ExitCode::environment: as keep_start_list()
std::unique_ptr<Workspace> make_own_tree(const WorkspaceOptions& options, std::string reason);

/// "", or why a run can't work in the user's own tree here.
std::string why_not_own_tree(const WorkspaceOptions& options);

}  // namespace sortie
