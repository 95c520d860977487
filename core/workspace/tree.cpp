#include "core/workspace/tree.h"

#include <fcntl.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/files/folder_stream.h"
#include "core/files/open_beneath.h"
#include "core/workspace/file_stamp.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

Error walk_error(const fs::path& shown) {
  return system_error(path_text(shown), ExitCode::environment);
}

/// Gives the owner access to all folders of a tree, without following links.
void open_up(const fs::path& folder, int depth) noexcept {
  std::error_code error;
  const auto status = fs::symlink_status(folder, error);
  if (error || !fs::is_directory(status) || depth > kDeepestFolder) return;
  fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add, error);
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (fs::is_directory(it->symlink_status(ignored))) open_up(it->path(), depth + 1);
  }
}

/// One record per entry, terminated by a zero byte, which no path contains.
void add(const std::string& path, const struct stat& status, Sha256& hash) {
  const FileStamp stamp = stamp_of(status);
  std::string line = std::to_string(stamp.mode);
  // A folder's times change with each entry that is added or removed.
  if (!S_ISDIR(status.st_mode))
    line += ' ' + std::to_string(stamp.size) + ' ' + std::to_string(stamp.mtime) + ' ' +
            std::to_string(stamp.ctime);
  hash.update(line + ' ' + path);
  hash.update(std::string_view("\0", 1));
}

void walk(const Fd& folder, const std::string& path, int depth, Sha256& hash) {
  if (depth > kDeepestFolder) throw Error(path + ": nested too deeply");
  for (const NamedStatus& entry : list_folder(folder, path)) {
    if (entry.name == ".git") continue;
    const std::string name = child_path(path, entry.name);
    add(name, entry.status, hash);
    // Hidden paths are covered by a folder without permissions.
    if (S_ISDIR(entry.status.st_mode) && (entry.status.st_mode & 0777) != 0)
      walk(open_folder(folder.get(), entry.name, name), name, depth + 1, hash);
  }
}

}  // namespace

Fd open_folder(int parent, const std::string& name, const fs::path& shown) {
  const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Fd folder(::openat(parent, name.c_str(), flags));
  if (!folder) throw walk_error(shown);
  return folder;
}

std::vector<NamedStatus> list_folder(const Fd& folder, const fs::path& shown) {
  // Opened again: a directory stream moves the offset and closes its descriptor.
  FolderStream stream(Fd(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  if (!stream) throw walk_error(shown);
  std::vector<NamedStatus> entries;
  while (const dirent* entry = stream.next()) {
    NamedStatus named{entry->d_name, {}};
    const int flags = AT_SYMLINK_NOFOLLOW;
    if (::fstatat(folder.get(), entry->d_name, &named.status, flags) == 0) {
      entries.push_back(std::move(named));
    } else if (errno != ENOENT) {
      throw walk_error(shown / named.name);
    }
  }
  if (errno != 0) throw walk_error(shown);
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

std::string child_path(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

bool has_path(const Files& tree, const std::string& path) {
  try {
    return tree.status(path).has_value();
  } catch (const LeadsOutside&) {
    return false;
  }
}

bool is_same_file(const std::string& path, const Files& one, const FileStatus& in_one,
                  const Files& other, const FileStatus& in_other) {
  constexpr std::uint64_t kMostCompared = 256ull << 20;
  if (in_one.kind != in_other.kind || in_one.size != in_other.size) return false;
  if (in_one.kind == FileStatus::Kind::symlink) return one.read_link(path) == other.read_link(path);
  if ((in_one.mode & 0100) != (in_other.mode & 0100) || in_one.size > kMostCompared) return false;
  try {
    return one.read(path) == other.read(path);
  } catch (const ToolError&) {
    return false;  // unreadable: the diff reports it
  }
}

bool in_git_folder(const std::string& path) {
  const fs::path parts = path;
  return std::any_of(parts.begin(), parts.end(),
                     [](const fs::path& part) { return ::strcasecmp(part.c_str(), ".git") == 0; });
}

TreeReader::TreeReader(const struct stat& tree)
    : is_root_(::geteuid() == 0),
      user_(is_root_ ? tree.st_uid : ::geteuid()),
      group_(is_root_ ? tree.st_gid : ::getegid()) {}

bool TreeReader::can_read(const struct stat& entry) const {
  if (S_ISLNK(entry.st_mode)) return true;
  const bool is_owner = entry.st_uid == user_;
  if (!is_root_ && !is_owner) return true;
  const unsigned wanted = S_ISDIR(entry.st_mode) ? 05 : 04;
  const int shift = is_owner ? 6 : entry.st_gid == group_ ? 3 : 0;
  return (entry.st_mode >> shift & wanted) == wanted;
}

struct stat status_of_tree(const fs::path& root) {
  struct stat status {};
  if (::stat(root.c_str(), &status) != 0) throw walk_error(root);
  if (!TreeReader(status).can_read(status))
    throw Error(
        "the workspace's own folder can't be listed anymore: a command removed its "
        "permissions",
        ExitCode::task_failed);
  return status;
}

void remove_tree(const fs::path& folder) noexcept {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) return;
  // Folders without permissions for their owner: the overlay's own, or changed by a command.
  open_up(folder, 0);
  fs::remove_all(folder, error);
}

std::optional<std::string> tree_stamp(const Fd& root) {
  try {
    Sha256 hash;
    walk(open_folder(root.get(), ".", "."), "", 0, hash);
    return hash.finish();
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace sortie
