#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/workspace/copy_manifest.h"

namespace sortie {

/// The size of a copy. Only folders are read.
struct TreeSize {
  std::uint64_t bytes = 0;  ///< stored bytes: holes of sparse files don't count
  std::uint64_t files = 0;
};

/// @param leave_out  paths below the tree that are not part of it
/// @throws Error  ExitCode::environment for a folder that can't be read
TreeSize measure_tree(const std::filesystem::path& tree,
                      const std::vector<std::filesystem::path>& leave_out);

/// Whether files of the tree can be cloned into the folder (FICLONE): both are on the same file
/// system, and it shares blocks. False for a tree without content.
bool can_clone(const std::filesystem::path& tree, const std::filesystem::path& folder);

/// Copies a file's bytes into an empty one: a clone where the file system can make one, else the data
/// between the holes.
/// @throws Error  ExitCode::environment with `path` and the cause
void copy_content(int from, int to, off_t size, const std::string& path);

/// Waits until the clock of file stamps has passed the time, 50 ms at most: a file that is written
/// later then has a later stamp.
void pass_time(std::int64_t stamp);

/// Copies the tree into a new folder, with reflinks if the file system supports them. Left-out
/// folders are created empty.
/// @throws Error  ExitCode::environment with the path and the cause
/// @param hidden  further files and folders, which do not appear in the copy at all
CopyManifest copy_tree(const std::filesystem::path& tree, const std::filesystem::path& to,
                       const std::vector<std::filesystem::path>& leave_out,
                       const std::function<bool(const std::string& path)>& hidden = {});

}  // namespace sortie
