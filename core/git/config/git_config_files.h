#pragma once

#include <filesystem>
#include <vector>

#include "core/git/config/git_config_text.h"
#include "core/git/config/git_place.h"

namespace sortie {

/// A repository's own configuration with all its includes, regardless of conditions.
struct GitConfigFiles {
  std::vector<std::filesystem::path> files;     ///< existing files
  std::vector<std::filesystem::path> included;  ///< existing or not, ".." resolved
  std::vector<GitSetting> settings;             ///< from all files
};

/// Reads the configuration before libgit2 does, which would block forever on a pipe.
///
/// @throws Error  ExitCode::environment if a file is not a regular file or not in git's grammar, if
///                an include can't be followed here as git would follow it, and if
///                core.excludesFile or core.attributesFile names a pipe or a device
GitConfigFiles read_git_config(const GitPlace& place);

/// Where hooks of the repository around a folder lie outside of its own `hooks`: the targets of
/// links at `.git/hooks` or in it, and the folder that `core.hooksPath` names with the targets of
/// its links. The user's next `git commit` would run what is written there.
/// @param folder  absolute, links resolved
/// @return        links resolved, sorted
/// @throws Error  ExitCode::environment if the configuration can't be read
std::vector<std::filesystem::path> hooks_elsewhere(const std::filesystem::path& folder);

}  // namespace sortie
