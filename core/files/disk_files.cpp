#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <memory>

#include "core/base/error.h"
#include "core/base/threads.h"
#include "core/files/disk_place.h"
#include "core/files/disk_replacement.h"
#include "core/files/files.h"
#include "core/files/open_beneath.h"

namespace fs = std::filesystem;

namespace sortie {

using namespace disk;

namespace {

constexpr int kMostLinks = 40;  // as the kernel's own limit, path_resolution(7)

FileStatus::Kind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return FileStatus::Kind::file;
  if (S_ISDIR(mode)) return FileStatus::Kind::folder;
  if (S_ISLNK(mode)) return FileStatus::Kind::symlink;
  return FileStatus::Kind::other;
}

void check_readable(const struct stat& status, const fs::path& path, std::uint64_t max_bytes) {
  if (S_ISDIR(status.st_mode)) fail(path, "is a folder");
  if (!S_ISREG(status.st_mode)) fail(path, "is not a regular file (a pipe, socket or device)");
  if (static_cast<std::uint64_t>(status.st_size) > max_bytes) {
    fail(path, "is too large: " + std::to_string(status.st_size) + " bytes of at most " +
                   std::to_string(max_bytes));
  }
}

std::string read_all(const Fd& file, const struct stat& status, const fs::path& path,
                     std::uint64_t max_bytes) {
  // One byte more than expected, so that the end is seen without growing the buffer.
  std::string content(static_cast<std::size_t>(status.st_size) + 1, '\0');
  std::size_t filled = 0;
  // A file may grow while it is read: only an empty read is its end.
  while (true) {
    if (filled == content.size()) content.resize(content.size() + 4096);
    const ssize_t count = ::read(file.get(), content.data() + filled, content.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_errno(path, errno);
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
    if (filled > max_bytes) fail(path, "is too large: it grows while it is read");
  }
  content.resize(filled);
  return content;
}

/// The folder that holds the last name of a path, and that name.
struct Place {
  Fd folder;
  std::string name;
};

Place existing_place(int root, const fs::path& path) {
  auto [folder, name] = split_name(path);
  Fd open = open_beneath(root, folder, O_PATH | O_DIRECTORY);
  if (!open) fail_errno(path, errno);
  return {std::move(open), std::move(name)};
}

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const auto end = std::min(path.find('/', begin), path.size());
    std::string part = path.substr(begin, end - begin);
    if (!part.empty() && part != ".") parts.push_back(std::move(part));
    begin = end + 1;
  }
  return parts;
}

std::optional<RegularFile> read_regular(OpenFolder& at, const fs::path& path) {
  const auto [folder, name] = split_name(path);
  const Fd& open = at.open(folder);
  struct stat status {};
  // Checked before it is opened, as in DiskFiles::read.
  if (!open || ::fstatat(open.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(status.st_mode))
    return std::nullopt;
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const Fd file(::openat(open.get(), name.c_str(), flags));
  if (!file) return std::nullopt;
  status = stat_of(file, path);
  check_readable(status, path, kMostFileBytes);
  return RegularFile{read_all(file, status, path, kMostFileBytes), status.st_mode & 07777u};
}

}  // namespace

std::vector<std::optional<RegularFile>> Files::read_many(const std::vector<fs::path>& paths) const {
  std::vector<std::optional<RegularFile>> files;
  for (const auto& path : paths) {
    files.emplace_back();
    try {
      const auto there = status(path);
      if (!there || there->kind != FileStatus::Kind::file) continue;
      if (auto content = read(path)) files.back() = RegularFile{std::move(*content), there->mode};
    } catch (const ToolError&) {  // read() says why
    }
  }
  return files;
}

DiskFiles::DiskFiles(Fd root, fs::path place) : root_(std::move(root)), place_(std::move(place)) {}

Fd DiskFiles::open(const std::string& name, int flags) const {
  Fd file = open_beneath(root_.get(), name, flags);
  if (file || errno != EXDEV || place_.empty()) return file;
  try {
    const fs::path path(name);
    // O_NOFOLLOW is about the last name only.
    const fs::path whole =
        (flags & O_NOFOLLOW) != 0 ? resolve(path.parent_path()) / path.filename() : resolve(path);
    return open_beneath(root_.get(), whole.native(), flags);
  } catch (const ToolError&) {
    errno = EXDEV;
    return Fd();
  }
}

std::optional<std::string> DiskFiles::read(const fs::path& path, std::uint64_t max_bytes) const {
  const std::string name = relative_name(path);
  // Checked before it is opened: opening a device or a pipe can have side effects.
  const Fd looked = open(name, O_PATH);
  if (!looked && is_missing(errno)) return std::nullopt;
  if (!looked) fail_errno(path, errno);
  check_readable(stat_of(looked, path), path, max_bytes);
  const Fd file = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file && is_missing(errno)) return std::nullopt;
  if (!file) fail_errno(path, errno);
  const struct stat status = stat_of(file, path);
  check_readable(status, path, max_bytes);
  return read_all(file, status, path, max_bytes);
}

std::vector<std::optional<RegularFile>> DiskFiles::read_many(
    const std::vector<fs::path>& paths) const {
  std::vector<std::optional<RegularFile>> files(paths.size());
  const auto anywhere = [](std::size_t) { return true; };
  parallel_for(paths.size(), anywhere, [&](std::size_t first, std::size_t last) {
    OpenFolder at(root_.get());
    for (std::size_t i = first; i < last; ++i) {
      try {
        files[i] = read_regular(at, paths[i]);
      } catch (const std::exception&) {  // read() says why
      }
    }
  });
  return files;
}

std::optional<FileStatus> DiskFiles::status(const fs::path& path) const {
  const Fd file = open(relative_name(path), O_PATH | O_NOFOLLOW);
  if (!file && is_missing(errno)) return std::nullopt;
  if (!file) fail_errno(path, errno);
  const struct stat status = stat_of(file, path);
  return FileStatus{.kind = kind_of(status.st_mode),
                    .mode = status.st_mode & 07777u,
                    .size = static_cast<std::uint64_t>(status.st_size),
                    .links = static_cast<std::uint64_t>(status.st_nlink)};
}

fs::path DiskFiles::resolve(const fs::path& path) const {
  const auto names = parts_of(path.empty() ? "." : relative_name(path));
  std::deque<std::string> rest(names.begin(), names.end());
  std::vector<std::string> done;
  int links = 0;
  const auto joined = [&] {
    fs::path whole;
    for (const auto& name : done) whole /= name;
    return whole.empty() ? fs::path(".") : whole;
  };
  while (!rest.empty()) {
    const std::string name = std::move(rest.front());
    rest.pop_front();
    if (name == "..") {
      if (done.empty()) fail_outside(path);
      done.pop_back();
      continue;
    }
    done.push_back(name);
    const auto found = status(joined());
    if (!found || found->kind != FileStatus::Kind::symlink) continue;
    if (++links > kMostLinks) fail_errno(path, ELOOP);
    std::string target = read_link(joined());
    done.pop_back();
    if (target.starts_with('/')) {
      const std::string place = place_.native() + '/';
      if (place_.empty() || !(target + '/').starts_with(place)) fail_outside(path);
      target.erase(0, std::min(target.size(), place.size()));
      done.clear();
    }
    const auto more = parts_of(target);
    rest.insert(rest.begin(), more.begin(), more.end());
  }
  return joined();
}

std::string DiskFiles::read_link(const fs::path& path) const {
  const Fd link = open(relative_name(path), O_PATH | O_NOFOLLOW);
  if (!link) fail_errno(path, errno);
  std::string target(4096, '\0');  // PATH_MAX, which bounds a link's text
  const ssize_t length = ::readlinkat(link.get(), "", target.data(), target.size());
  // readlinkat(2) with an empty name: ENOENT means that the descriptor is not a link.
  if (length < 0)
    fail(path, errno == ENOENT || errno == EINVAL ? "is not a link" : errno_text(errno));
  target.resize(static_cast<std::size_t>(length));
  return target;
}

std::vector<FolderEntry> DiskFiles::list(const fs::path& folder) const {
  Fd open = this->open(relative_name(folder), O_RDONLY | O_DIRECTORY | O_NONBLOCK);
  if (!open && errno == ENOTDIR) fail(folder, "is not a folder");
  if (!open && errno == ENOENT) fail(folder, "no such folder");
  if (!open) fail_errno(folder, errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(open.get()), ::closedir);
  if (!stream) fail_errno(folder, errno);
  const int number = open.release();  // the stream's from here on
  std::vector<FolderEntry> entries;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat status {};
    if (entry->d_type != DT_UNKNOWN) {
      status.st_mode = DTTOIF(entry->d_type);
    } else if (::fstatat(number, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;  // removed meanwhile
    }
    entries.push_back({name, kind_of(status.st_mode)});
  }
  if (errno != 0) fail_errno(folder, errno);
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

void DiskFiles::write(const fs::path& path, std::string_view content, unsigned mode) {
  const auto [folder, name] = split_name(path);
  const Fd open = make_folders(root_.get(), folder, path);
  const struct stat owner = owner_of(open, replaced_at(open, name, path), path);
  const std::string temporary = make_beside(open, content, owner, mode, path);
  if (::renameat(open.get(), temporary.c_str(), open.get(), name.c_str()) == 0) return;
  const int number = errno;
  ::unlinkat(open.get(), temporary.c_str(), 0);
  fail_errno(path, number);
}

void DiskFiles::remove(const fs::path& path) {
  const Place place = existing_place(root_.get(), path);
  if (::unlinkat(place.folder.get(), place.name.c_str(), 0) != 0) fail_errno(path, errno);
}

bool DiskFiles::remove_empty_folder(const fs::path& path) {
  const Place place = existing_place(root_.get(), path);
  if (::unlinkat(place.folder.get(), place.name.c_str(), AT_REMOVEDIR) == 0) return true;
  if (errno == ENOTEMPTY || errno == EEXIST || errno == EBUSY) return false;
  if (errno == ENOTDIR) fail(path, "is not a folder");
  fail_errno(path, errno);
}

void DiskFiles::replace_all(const std::vector<Replacement>& replacements) {
  DiskReplacement(root_.get()).run(replacements);
}

}  // namespace sortie
