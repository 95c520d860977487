#pragma once

#include <filesystem>

#include "core/files/files.h"
#include "core/workspace/diff/diff.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// Detects before a run what would prevent its diff at the end.
/// @throws Error  ExitCode::environment if the repository or HEAD can't be read
void check_start(const std::filesystem::path& root);

/// Makes the diff of a workspace, and verifies it by applying it to a scratch copy of the touched
/// files.
///
/// The user's git, config, hooks, filters and attributes are never run; HEAD, tracked files, ignore
/// rules and attributes are those of the start (StartRecord). Exceptions of `options.check_cancel`
/// propagate.
/// @throws Error  ExitCode::internal if the diff does not apply or produces other bytes;
///                ExitCode::task_failed for a draft of changes that are too large together
Diff make_diff(const Workspace& workspace, const Files& view, const std::filesystem::path& root,
               const DiffOptions& options);

}  // namespace sortie
