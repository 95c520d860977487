#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "core/workspace/workspace_options.h"

namespace sortie {

/// What git had of a workspace at the start of its run, kept in the state folder as a small
/// repository of its own: what the user does to theirs meanwhile does not show in it.
struct StartRecord {
  std::filesystem::path folder;    ///< its working tree: ignore and attribute files
  std::filesystem::path toplevel;  ///< of the user's repository; the workspace where it has none
  bool has_repository = false;
  std::vector<std::filesystem::path> objects;  ///< folders of the user's objects
  std::int64_t began = 0;  ///< by the clock that stamps files (ctime), nanoseconds
};

/// Makes the record of a start in options.state, or takes the one that is there: a run that goes on
/// began when it began.
/// @throws Error  ExitCode::environment for a repository that can't be read, or a full disk
StartRecord keep_start(const WorkspaceOptions& options);

/// Writes a small file at once or not at all; one that a power loss takes is made again.
/// @throws Error  ExitCode::environment
void write_record(const std::filesystem::path& file, std::string_view content);

}  // namespace sortie
