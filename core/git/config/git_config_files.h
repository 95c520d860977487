#pragma once

#include <filesystem>
#include <vector>

#include "core/git/config/git_config_text.h"
#include "core/git/config/git_place.h"

namespace sortie {

/// A repository's own configuration with all that it includes, whatever the condition.
struct GitConfigFiles {
  std::vector<std::filesystem::path> files;     ///< those that are there
  std::vector<std::filesystem::path> included;  ///< there or not, ".." taken back
  std::vector<GitSetting> settings;             ///< of all files
};

/// Reads the configuration before libgit2 does, which would wait for a pipe without end.
///
/// @throws Error  ExitCode::environment where a file is no regular one or is not git's grammar,
///                where an include can't be followed here as git will follow it, and where
///                core.excludesFile or core.attributesFile names a pipe or a device
GitConfigFiles read_git_config(const GitPlace& place);

/// Where the hooks of the repository around a folder really lie, as far as that is not its own
/// `hooks`: what `.git/hooks`, or a hook in it, is a link to, and the folder that `core.hooksPath`
/// names with what is linked there. Whoever writes there has the user's next `git commit` run it.
/// @param folder  absolute, links resolved
/// @return        links resolved, sorted
/// @throws Error  ExitCode::environment for a configuration that can't be read
std::vector<std::filesystem::path> hooks_elsewhere(const std::filesystem::path& folder);

}  // namespace sortie
