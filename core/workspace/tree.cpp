#include "core/workspace/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "core/base/error.h"
#include "core/files/file_name.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

Error walk_error(const fs::path& shown) {
  return system_error(path_text(shown), ExitCode::environment);
}

/// Lets the owner into all folders of a tree, links not followed.
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

}  // namespace

Fd open_folder(int parent, const std::string& name, const fs::path& shown) {
  const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Fd folder(::openat(parent, name.c_str(), flags));
  if (!folder) throw walk_error(shown);
  return folder;
}

std::vector<NamedStatus> list_folder(const Fd& folder, const fs::path& shown) {
  // A second description: a stream moves the offset and closes what it was given.
  Fd own(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!own) throw walk_error(shown);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(own.get()), ::closedir);
  if (!stream) throw walk_error(shown);
  own.release();
  std::vector<NamedStatus> entries;
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    NamedStatus named{entry->d_name, {}};
    if (named.name == "." || named.name == "..") continue;
    const int flags = AT_SYMLINK_NOFOLLOW;
    if (::fstatat(folder.get(), entry->d_name, &named.status, flags) == 0) {
      entries.push_back(std::move(named));
    } else if (errno != ENOENT) {
      throw walk_error(shown / named.name);
    }
    errno = 0;
  }
  if (errno != 0) throw walk_error(shown);
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

bool is_within(const std::string& path, const std::vector<fs::path>& folders) {
  return std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
    const std::string& name = folder.native();
    return path.compare(0, name.size(), name) == 0 &&
           (path.size() == name.size() || path[name.size()] == '/');
  });
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
        "the workspace's own folder can't be listed any more: a command took away its "
        "permissions",
        ExitCode::task_failed);
  return status;
}

void remove_tree(const fs::path& folder) noexcept {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) return;
  // Folders that were closed to their owner: the overlay's own, or by a command.
  open_up(folder, 0);
  fs::remove_all(folder, error);
}

}  // namespace sortie
