#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/init/ci_files.h"
#include "app/init/toolchains.h"

namespace sortie {

/// The flags of `sortie init`.
struct InitOptions {
  std::string toolchain;  ///< one of toolchain_names(); "" for the one that is found
  std::string ci;         ///< a spelling of CiSystem; "" for the one that is found
  FirstModel model;
  bool force = false;  ///< replaces files that exist
};

/// The first files of a project, not yet written.
struct InitPlan {
  std::filesystem::path top;      ///< that the files lie below: the repository's, or the project
  std::filesystem::path project;  ///< the folder below it; "" if it is the same
  Toolchain toolchain;
  std::vector<Toolchain> others;  ///< found as well, and not taken
  /// Found in folders below, where here is none.
  std::vector<std::pair<std::filesystem::path, std::string>> below;
  CiChoice ci;
  std::vector<InitFile> files;      ///< to be written
  std::vector<InitFile> unchanged;  ///< that are there already, as they would be written
};

/// Decides which files a project gets; writes nothing.
/// @param folder  the project: absolute, links resolved
/// @throws InputError  files are there that would be replaced, all of them named; a folder that
///                     can't be a workspace
InitPlan plan_init(const std::filesystem::path& folder, const InitOptions& options);

/// Writes the files, all or none of them.
/// @throws Error  usage for a folder that can't be written to, environment for a full disk
void write_init(const InitPlan& plan);

}  // namespace sortie
