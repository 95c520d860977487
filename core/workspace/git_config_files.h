#pragma once

#include <filesystem>
#include <vector>

#include "core/workspace/git_config_text.h"

namespace sortie {

/// A repository's own configuration with all that it includes, whatever the condition.
struct GitConfigFiles {
  std::filesystem::path git_dir;                ///< where `.git` leads; empty: there is none
  std::filesystem::path common_dir;             ///< of a linked worktree: the main one's
  std::vector<std::filesystem::path> files;     ///< those that are there
  std::vector<std::filesystem::path> included;  ///< there or not, ".." taken back
  std::vector<GitSetting> settings;             ///< of all files
};

/// Reads the configuration before libgit2 does, which would wait for a pipe without end.
///
/// @param toplevel  absolute, links resolved: the folder that holds `.git`
/// @throws Error  ExitCode::environment where a file is no regular one or is not git's grammar,
///                where an include can't be followed here as git will follow it
GitConfigFiles read_git_config(const std::filesystem::path& toplevel);

}  // namespace sortie
