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

/// What stands in an open folder, sorted by name in byte order.
std::vector<NamedStatus> list_folder(const Fd& folder, const std::filesystem::path& shown);

/// "folder/name", or "name" at the root.
std::string child_path(const std::string& folder, const std::string& name);

/// Whether two trees have the same at a path: a link's target, or a file's bytes and whether it can
/// be executed. False for files of more than 256 MiB, and for one that can't be read.
bool is_same_file(const std::string& path, const Files& one, const FileStatus& in_one,
                  const Files& other, const FileStatus& in_other);

/// `.git` anywhere in a path, in any case: a repository's own files, never part of a tree
/// (git: verify_path).
bool in_git_folder(const std::string& path);

/// Whom the permissions in a tree are judged for: the user that commands run as, which is the
/// workspace's owner where sortie runs as root. That root itself could read all says nothing of
/// what they see, a verification's among them.
class TreeReader {
 public:
  /// @param tree  of the workspace's root
  explicit TreeReader(const struct stat& tree);
  /// Whether it can read a file, or list a folder and reach what is in it. Links have no
  /// permissions; as a user, what is another's is left to the kernel.
  bool can_read(const struct stat& entry) const;

 private:
  bool is_root_;
  uid_t user_;
  gid_t group_;
};

/// What stands at a tree's root. @throws Error  ExitCode::task_failed where commands took away the
/// permissions to list it: then nothing is known of the tree
struct stat status_of_tree(const std::filesystem::path& root);

/// Removes a state folder, the folder without any permission that an overlay leaves in `work` too;
/// what can't be removed is left.
void remove_tree(const std::filesystem::path& folder) noexcept;

/// What tells, without reading a file, that nothing in a tree was written to: a digest over its
/// paths and over what the kernel says of its files and links, `.git` left out, which no command of
/// a run can write. Of folders only their names and permissions count, so that a temporary file
/// that has come and gone does not.
/// @param root  the tree's root
/// @return      nothing where it can't be told: a folder that can't be listed, or nested too deep
std::optional<std::string> tree_stamp(const Fd& root);

}  // namespace sortie
