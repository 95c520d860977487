#pragma once

#include <filesystem>

#include "core/workspace/start_list.h"
#include "core/workspace/start_record.h"
#include "core/workspace/workspace_options.h"

namespace sortie {

/// Where a run that works in the user's own tree keeps its start, in the state folder: the list, the
/// kept copies, the times of its work.
struct StartPlace {
  std::filesystem::path folder;
  std::filesystem::path list() const { return folder / "list"; }
  std::filesystem::path kept() const { return folder / "kept"; }
};
/// "STATE/in-place".
StartPlace start_place(const std::filesystem::path& state);

/// The list that a run stored. A repository could contain a folder that looks like a run's, so only a
/// folder that the run itself made on this file system counts.
/// @throws Error  ExitCode::environment: it is damaged, or was not made here
StartList load_start_list(const StartPlace& place);
/// Another list in the same folder. @throws Error  the same
StartList load_start_list(const StartPlace& place, const std::filesystem::path& file);

/// Lists the tree of the start, and keeps a copy of each file that the repository's objects don't
/// contain byte for byte: of changed and untracked ones, and of those that git converts. Files that
/// git ignores are listed only, unless options.keeps_ignored says otherwise and copy_limit has room. Runs nothing, and writes nothing to the repository. The list of an
/// earlier process of the same run is used as it is.
/// @throws Error  ExitCode::environment: more to copy than options.copy_limit, an unreadable file, a
///                full disk
StartList keep_start_list(const WorkspaceOptions& options, const StartRecord& record);

}  // namespace sortie
