#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/files/files.h"

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

/// The entries of an open folder, sorted by name in byte order.
std::vector<NamedStatus> list_folder(const Fd& folder, const std::filesystem::path& shown);

/// "folder/name", or "name" at the root.
std::string child_path(const std::string& folder, const std::string& name);

/// Whether a tree has anything at a path. What lies behind a link that leads out of it, it has not.
bool has_path(const Files& tree, const std::string& path);

/// Whether a path is the same in two trees: the target of a link, or the bytes of a file and
/// whether it is executable. False for files of more than 256 MiB, and for unreadable ones.
bool is_same_file(const std::string& path, const Files& one, const FileStatus& in_one,
                  const Files& other, const FileStatus& in_other);

/// `.git` anywhere in a path, in any case: a repository's own files, never part of a tree
/// (git: verify_path).
bool in_git_folder(const std::string& path);

/// Checks permissions in a tree for the user that commands run as: the owner of the workspace if
/// sortie runs as root. That root itself can read everything does not matter for commands.
class TreeReader {
 public:
  /// @param tree  status of the workspace's root
  explicit TreeReader(const struct stat& tree);
  /// Whether that user can read a file, or list and enter a folder. Links have no permissions.
  /// Without root, files of other users are left to the kernel.
  bool can_read(const struct stat& entry) const;

 private:
  bool is_root_;
  uid_t user_;
  gid_t group_;
};

/// The status of a tree's root. @throws Error  ExitCode::task_failed if commands removed the
/// permission to list it: then nothing is known about the tree
struct stat status_of_tree(const std::filesystem::path& root);

/// Removes a state folder, including the folder without permissions that an overlay leaves in
/// `work`; leaves what can't be removed.
void remove_tree(const std::filesystem::path& folder) noexcept;

/// A digest that shows without reading files whether anything in a tree was written to: over the
/// paths and the kernel's attributes of files and links, without `.git`, which no command of a run
/// can write. Only the names and permissions of folders count, so that temporary files don't
/// matter.
/// @return  nothing if a folder can't be listed, or is nested too deep
std::optional<std::string> tree_stamp(const Fd& root);

}  // namespace sortie
