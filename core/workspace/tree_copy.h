#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/workspace/manifest.h"

namespace sortie {

/// What a copy would take; nothing is read but the folders.
struct TreeSize {
  std::uint64_t bytes = 0;  ///< as stored: holes of sparse files don't count
  std::uint64_t files = 0;
};

/// @param leave_out  paths below the tree that are no part of it
/// @throws Error  ExitCode::environment for a folder that can't be read
TreeSize measure_tree(const std::filesystem::path& tree,
                      const std::vector<std::filesystem::path>& leave_out);

/// Whether a file of the tree can be cloned into the folder (FICLONE): same file system, and one
/// that shares blocks. False for a tree without any content.
bool can_clone(const std::filesystem::path& tree, const std::filesystem::path& folder);

/// Copies the tree into a folder that does not exist yet, by reflinks where the file system has
/// them. Folders left out are made, empty.
/// @throws Error  ExitCode::environment with the path and the cause
/// @param hidden  further files and folders without a trace in the copy
Manifest copy_tree(const std::filesystem::path& tree, const std::filesystem::path& to,
                   const std::vector<std::filesystem::path>& leave_out,
                   const std::function<bool(const std::string& path)>& hidden = {});

}  // namespace sortie
