#include "core/workspace/start_making.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/files/open_beneath.h"
#include "core/workspace/tree_copy.h"

namespace sortie {
namespace {

constexpr std::size_t kCompared = 1 << 20;

timespec time_of(std::int64_t nanoseconds) {
  return {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
}

std::size_t fill(const Fd& file, std::string& room, off_t at, const std::string& path) {
  std::size_t size = 0;
  for (ssize_t count = 1; count != 0 && size < room.size();) {
    count =
        ::pread(file.get(), room.data() + size, room.size() - size, at + static_cast<off_t>(size));
    if (count < 0 && errno != EINTR) disk::fail_errno(path, errno);
    if (count > 0) size += static_cast<std::size_t>(count);
  }
  return size;
}

/// Where the next byte stands that is not in a hole; `size` if there is none.
off_t next_data(const Fd& file, off_t at, off_t size) {
  const off_t data = ::lseek(file.get(), at, SEEK_DATA);
  if (data >= 0) return data;
  return errno == ENXIO ? size : at;
}

void give_to_owner(const PlacedName& at, const StartEntry& was) {
  if (::geteuid() == 0 &&
      ::fchownat(at.folder.get(), at.name.c_str(), was.user, was.group, AT_SYMLINK_NOFOLLOW) != 0)
    disk::fail_errno(was.path, errno);
}

void make_link(const PlacedName& at, const StartEntry& was) {
  if (::symlinkat(was.place.c_str(), at.folder.get(), at.name.c_str()) != 0)
    disk::fail_errno(was.path, errno);
  give_to_owner(at, was);
}

void make_pipe(const PlacedName& at, const StartEntry& was) {
  if (::mkfifoat(at.folder.get(), at.name.c_str(), 0600) != 0) disk::fail_errno(was.path, errno);
  give_to_owner(at, was);
  if (::fchmodat(at.folder.get(), at.name.c_str(), was.stamp.mode & 07777, 0) != 0)
    disk::fail_errno(was.path, errno);
}

std::string link_at(const PlacedName& there) {
  std::string target(4096, '\0');
  const ssize_t size =
      ::readlinkat(there.folder.get(), there.name.c_str(), target.data(), target.size());
  target.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return target;
}

}  // namespace

bool StartMaker::is_content_of(const PlacedName& there, const StartEntry& was) const {
  if (S_ISLNK(was.stamp.mode)) return link_at(there) == was.place;
  const Fd now(::openat(there.folder.get(), there.name.c_str(),
                        O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return now && has_bytes(now, was);
}

/// Compares piece by piece what is kept as a file of its own.
bool StartMaker::has_bytes(const Fd& now, const StartEntry& was) const {
  if (was.held != StartEntry::Held::kept) {
    std::string content(was.stamp.size + 1, '\0');
    content.resize(fill(now, content, 0, was.path));
    return content == start_.held_content(was);
  }
  const Fd kept(::open(start_.kept_copy(was).c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!kept || ::fstat(kept.get(), &status) != 0 ||
      static_cast<std::uint64_t>(status.st_size) != was.stamp.size)
    disk::fail(was.path, "what was kept of it is lost");
  std::string one(kCompared, '\0');
  std::string other(kCompared, '\0');
  for (off_t at = 0; at < status.st_size; at += static_cast<off_t>(kCompared)) {
    at = std::min(next_data(now, at, status.st_size), next_data(kept, at, status.st_size));
    const std::size_t size = fill(now, one, at, was.path);
    if (size != fill(kept, other, at, was.path) || one.compare(0, size, other, 0, size) != 0)
      return false;
  }
  return true;
}

bool StartMaker::can_make(const StartEntry& was) {
  const mode_t mode = was.stamp.mode;
  return S_ISLNK(mode) || S_ISFIFO(mode) ||
         (S_ISREG(mode) && was.held != StartEntry::Held::nowhere);
}

void StartMaker::make(const PlacedName& at, const StartEntry& was) const {
  if (S_ISLNK(was.stamp.mode))
    make_link(at, was);
  else if (S_ISREG(was.stamp.mode))
    make_file(at, was);
  else
    make_pipe(at, was);
  set_time(at, was);
}

void StartMaker::make_file(const PlacedName& at, const StartEntry& was) const {
  const Fd file(::openat(at.folder.get(), at.name.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) disk::fail_errno(was.path, errno);
  if (was.held == StartEntry::Held::kept) {
    const Fd kept(::open(start_.kept_copy(was).c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!kept || ::fstat(kept.get(), &status) != 0 ||
        static_cast<std::uint64_t>(status.st_size) != was.stamp.size)
      disk::fail(was.path, "what was kept of it is lost");
    copy_content(kept.get(), file.get(), status.st_size, was.path);
  } else if (!write_all(file.get(), start_.held_content(was))) {
    disk::fail_errno(was.path, errno);
  }
  if (::geteuid() == 0 && ::fchown(file.get(), was.user, was.group) != 0)
    disk::fail_errno(was.path, errno);
  if (::fchmod(file.get(), was.stamp.mode & 07777) != 0 || ::fsync(file.get()) != 0)
    disk::fail_errno(was.path, errno);
}

std::string StartMaker::other_name(const StartEntry& was) const {
  const auto found = made_.find(was.stamp.inode);
  return found == made_.end() ? "" : found->second;
}

void StartMaker::set_time(const PlacedName& at, const StartEntry& was) {
  const timespec times[2] = {{0, UTIME_OMIT}, time_of(was.stamp.mtime)};
  ::utimensat(at.folder.get(), at.name.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

}  // namespace sortie
