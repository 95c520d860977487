#pragma once

#include <sys/stat.h>

#include <string>
#include <utility>

#include "core/base/fd.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// What is at a path of a real tree; no link of the path is followed.
struct PresentEntry {
  enum class Kind {
    none,
    file,  ///< or a link: `entry` has mode and content
    folder,
    other,        ///< a pipe, socket or device
    behind_link,  ///< a folder above it is a link
  };
  Kind kind = Kind::none;
  TreeEntry entry{};
  struct stat status {};
};

/// Opens a folder below an open one; no link of the path is followed (openat2(2),
/// RESOLVE_NO_SYMLINKS). No descriptor, with errno set, on failure.
/// @param folder  "" for the root itself
Fd open_real_folder(int root, const std::string& folder, int flags);

/// The folder of a path and its last name: "" and "a" of "a".
std::pair<std::string, std::string> folder_and_name(const std::string& path);

/// @throws Error  ExitCode::environment: it can't be read; ExitCode::conflict: larger than 256 MiB
PresentEntry read_present(int root, const std::string& path);

}  // namespace sortie
