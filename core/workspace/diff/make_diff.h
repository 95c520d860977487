#pragma once

#include <filesystem>

#include "core/files/files.h"
#include "core/workspace/diff/diff.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// Finds out before a run what its diff could not be made with, after all the work.
/// @throws Error  ExitCode::environment for a repository, or a HEAD, that can't be read
void check_start(const std::filesystem::path& root);

/// Makes the diff of a workspace and applies it to a scratch copy of the touched files to prove it.
///
/// The user's git, its config, hooks, filters and attributes are never run; HEAD, the list of
/// tracked files, ignore rules and attributes are those of the start (StartRecord).
/// What `options.pace` throws goes through.
/// @throws Error  ExitCode::internal when the diff does not apply or gives other bytes;
///                ExitCode::task_failed for a draft of changes that are too large together
Diff make_diff(const Workspace& workspace, const Files& view, const std::filesystem::path& root,
               const DiffOptions& options);

}  // namespace sortie
