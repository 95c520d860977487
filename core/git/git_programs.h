#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace sortie {

/// What a repository's own configuration would have git run, and how to keep git from it.
struct GitPrograms {
  /// Settings that override every key that names a program, for GIT_CONFIG_COUNT.
  std::vector<std::pair<std::string, std::string>> overrides;
  /// The files that the configuration includes and `.gitmodules`, there or not: who writes them
  /// names programs, or has git look into a submodule.
  std::vector<std::filesystem::path> included;
};

/// Reads the configuration of the repository around a folder: `config`, `config.worktree`, what
/// they include whatever the condition, and the names of submodules, of the working tree or else as
/// committed.
///
/// @param folder  absolute, links resolved
/// @throws Error  ExitCode::environment for a configuration that can't be read: git might read it
GitPrograms read_git_programs(const std::filesystem::path& folder);

}  // namespace sortie
