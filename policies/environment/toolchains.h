#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "policies/environment/environment.h"

namespace sortie {

/// The user's tool folders that a run can see (`paths.toolchains`).
struct Toolchains {
  /// Existing folders of the machine, as named: below HOME, or where a variable points.
  std::vector<std::filesystem::path> folders;
  /// The variables that point to them: the caller's own and, if the run's HOME differs from the
  /// caller's, those that replace the tools' defaults below HOME.
  Environment variables;
  /// Files in and beside them that hold credentials, whether they exist or not.
  std::vector<std::filesystem::path> credentials;
};

/// The known tool folders: cargo, rustup, nvm, pyenv, go, Maven, Gradle, and the caches of pip,
/// npm, uv and others. A folder that a variable moves (its tool's own, XDG_CACHE_HOME,
/// XDG_DATA_HOME) is used at its new place, unless that is HOME itself, a folder above it or above a
/// kept place, or a folder of the system.
/// @param caller_home  HOME of sortie's own environment
/// @param run_home     HOME in the run: the same path with namespaces
/// @param kept         places that no toolchain may contain: the workspace, --out
Toolchains find_toolchains(const Environment& own, const std::filesystem::path& caller_home,
                           const std::filesystem::path& run_home,
                           const std::vector<std::filesystem::path>& kept);

}  // namespace sortie
