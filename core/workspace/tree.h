#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/fd.h"

namespace sortie {

/// Deeper folders are refused: each level of a walk holds a descriptor.
inline constexpr int kDeepestFolder = 200;

/// One name in a folder, links not followed.
struct NamedStatus {
  std::string name;
  struct stat status {};
};

/// Opens a folder for listing. @throws Error  with `shown` and the cause
Fd open_folder(int parent, const std::string& name, const std::filesystem::path& shown);

/// What stands in an open folder, sorted by name in byte order.
std::vector<NamedStatus> list_folder(const Fd& folder, const std::filesystem::path& shown);

/// "folder/name", or "name" at the root.
std::string joined(const std::string& folder, const std::string& name);

/// Whether a path is one of these or lies below one of them.
bool is_within(const std::string& path, const std::vector<std::filesystem::path>& folders);

/// `.git` anywhere in a path, in any case: a repository's own files, never part of a tree
/// (git: verify_path).
bool in_git_folder(const std::string& path);

/// Removes a state folder, the folder without any permission that an overlay leaves in `work` too;
/// what can't be removed is left.
void remove_tree(const std::filesystem::path& folder) noexcept;

}  // namespace sortie
