#pragma once

#include "core/workspace/workspace.h"

namespace sortie {

/// Makes the record of a start in options.state, or takes the one that is there: a run that goes on
/// began when it began.
/// @throws Error  ExitCode::environment for a repository that can't be read, or a full disk
StartRecord keep_start(const WorkspaceOptions& options);

/// Writes a small file at once or not at all; one that a power loss takes is made again.
/// @throws Error  ExitCode::environment
void write_record(const std::filesystem::path& file, std::string_view content);

}  // namespace sortie
