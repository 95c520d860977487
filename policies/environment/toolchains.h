#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "policies/environment/environment.h"

namespace sortie {

/// What of a user's own tools is shown to a run (`paths.toolchains`).
struct Toolchains {
  /// Folders of the machine, as named, that exist: below HOME, or where a variable points.
  std::vector<std::filesystem::path> folders;
  /// The variables that lead to them: the caller's own and, where the run's HOME is another folder
  /// than the caller's, those that stand for what tools look for below HOME.
  Environment variables;
  /// Files in and beside them that hold credentials, whether they exist or not.
  std::vector<std::filesystem::path> credentials;
};

/// The known tool folders: cargo, rustup, nvm, pyenv, go, Maven, Gradle, and the caches of pip,
/// npm, uv and others. A folder that a variable moves elsewhere counts there, unless that is HOME
/// itself, a folder above it or above a kept place, or one of the system's.
/// @param caller_home  HOME of sortie's own environment
/// @param run_home     HOME in the run: the same path where there are namespaces
/// @param kept         places that no toolchain may hold: the workspace, --out
Toolchains find_toolchains(const Environment& own, const std::filesystem::path& caller_home,
                           const std::filesystem::path& run_home,
                           const std::vector<std::filesystem::path>& kept);

}  // namespace sortie
