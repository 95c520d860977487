#include "core/files/disk_place.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/open_beneath.h"

namespace fs = std::filesystem;
namespace sortie::disk {
namespace {

/// As root, files that sortie makes get the owner of their folder: commands run as that user.
/// @param own  status of the file
/// @return     whether the owner was changed
bool give_to(int file, const struct stat& own, const struct stat& owner, const fs::path& path) {
  if (own.st_uid == owner.st_uid && own.st_gid == owner.st_gid) return false;
  if (::geteuid() != 0) return false;
  if (::fchown(file, owner.st_uid, owner.st_gid) != 0) fail_errno(path, errno);
  return true;
}

void fill(const Fd& file, std::string_view content, const struct stat& owner, unsigned mode,
          const fs::path& path) {
  if (!write_all(file.get(), content)) fail_errno(path, errno);
  const struct stat own = stat_of(file, path);
  const bool given = give_to(file.get(), own, owner, path);  // chown(2) clears set-id bits
  if (!given && (own.st_mode & 07777) == (mode & 07777)) return;
  if (::fchmod(file.get(), mode & 07777) != 0) fail_errno(path, errno);
}

}  // namespace

std::string relative_name(const fs::path& path) {
  std::string name = path.native();
  if (name.find('\0') != std::string::npos) fail(path, "a path can't contain a NUL byte");
  if (!name.empty() && name.front() == '/') {
    fail(path, "is absolute; use a path relative to the workspace");
  }
  while (!name.empty() && name.back() == '/') name.pop_back();
  return name.empty() ? "." : name;
}

struct stat stat_of(const Fd& file, const fs::path& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_errno(path, errno);
  return status;
}

std::pair<std::string, std::string> split_name(const fs::path& path) {
  const std::string whole = relative_name(path);
  const auto slash = whole.rfind('/');
  std::string name = slash == std::string::npos ? whole : whole.substr(slash + 1);
  if (name == "." || name == "..") fail(path, "does not name a file");
  std::string folder = slash == std::string::npos ? "." : whole.substr(0, slash);
  return {folder, name};
}

Fd make_folders(int root, const fs::path& folder, const fs::path& shown,
                std::vector<std::string>* made) {
  Fd open = open_beneath(root, relative_name(folder), O_PATH | O_DIRECTORY);
  if (open) return open;
  if (errno == ENOTDIR) fail(shown, "a part of the path is a file, not a folder");
  if (errno != ENOENT || !folder.has_relative_path()) fail_errno(shown, errno);
  const auto [above, name] = split_name(folder);
  const Fd parent = make_folders(root, above, shown, made);
  const struct stat owner = stat_of(parent, shown);
  const bool is_new = ::mkdirat(parent.get(), name.c_str(), 0755) == 0;
  if (!is_new && errno != EEXIST) fail_errno(shown, errno);
  if (is_new && made != nullptr) made->push_back(folder);
  open = open_beneath(parent.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!open) fail_errno(shown, errno == ELOOP || errno == ENOTDIR ? ENOENT : errno);
  if (is_new) give_to(open.get(), stat_of(open, shown), owner, shown);
  return open;
}

struct stat replaced_at(const Fd& folder, const std::string& name, const fs::path& path) {
  struct stat there {};
  if (::fstatat(folder.get(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0) return {};
  if (S_ISDIR(there.st_mode)) fail(path, "is a folder");
  return there;
}

struct stat owner_of(const Fd& folder, const struct stat& there, const fs::path& path) {
  return S_ISREG(there.st_mode) ? there : stat_of(folder, path);
}

std::string make_beside(const Fd& folder, std::string_view content, const struct stat& owner,
                        unsigned mode, const fs::path& path) {
  std::string name = temporary_name();
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  // Creating it with the final mode saves a chmod, but before a change of owner it would let others
  // read the file.
  const bool is_own = owner.st_uid == ::geteuid() && owner.st_gid == ::getegid();
  const Fd file(::openat(folder.get(), name.c_str(), flags, is_own ? mode & 0777 : 0600));
  if (!file) fail_errno(path, errno);
  try {
    fill(file, content, owner, mode, path);
  } catch (...) {
    ::unlinkat(folder.get(), name.c_str(), 0);
    throw;
  }
  return name;
}

void write_link(int root, const fs::path& path, const std::string& target) {
  const auto [above, name] = split_name(path);
  const Fd folder = make_folders(root, above, path);
  const struct stat owner = owner_of(folder, replaced_at(folder, name, path), path);
  if (::unlinkat(folder.get(), name.c_str(), 0) != 0 && errno != ENOENT) fail_errno(path, errno);
  if (::symlinkat(target.c_str(), folder.get(), name.c_str()) != 0) fail_errno(path, errno);
  if (::geteuid() == 0 &&
      ::fchownat(folder.get(), name.c_str(), owner.st_uid, owner.st_gid, AT_SYMLINK_NOFOLLOW) != 0)
    fail_errno(path, errno);
}

void remove_hollow(Files& files, const fs::path& path) {
  for (const FolderEntry& entry : files.list(path))
    if (entry.kind == FileStatus::Kind::folder) remove_hollow(files, path / entry.name);
  files.remove_empty_folder(path);
}

const Fd& OpenFolder::open(const std::string& folder) {
  if (folder_ && name_ == folder) return folder_;
  folder_ = open_beneath(root_, folder, O_PATH | O_DIRECTORY);
  name_ = folder;
  return folder_;
}

const Fd& OpenFolder::make(const std::string& folder, const std::filesystem::path& shown,
                           std::vector<std::string>& made) {
  if (open(folder)) return folder_;
  folder_ = make_folders(root_, folder, shown, &made);
  return folder_;
}

}  // namespace sortie::disk
