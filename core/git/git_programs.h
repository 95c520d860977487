#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace sortie {

/// The programs that a repository's own configuration would make git run, and how to prevent it.
struct GitPrograms {
  /// Settings for GIT_CONFIG_COUNT that override every key that names a program.
  std::vector<std::pair<std::string, std::string>> overrides;
  /// The files that the configuration includes, and `.gitmodules`, existing or not: writing them
  /// could name programs, or make git descend into a submodule.
  std::vector<std::filesystem::path> included;
};

/// Reads the configuration of the repository around a folder: `config`, `config.worktree`, their
/// includes regardless of conditions, and the names of submodules in the working tree or else in
/// the commit.
///
/// @param folder  absolute, links resolved
/// @throws Error  ExitCode::environment if it can't be read here: git might still read it
GitPrograms read_git_programs(const std::filesystem::path& folder);

}  // namespace sortie
