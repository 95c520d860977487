#include "core/workspace/file_stamp.h"

#include <fcntl.h>

namespace sortie {
namespace {

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

FileStamp stamp_of(const struct stat& status) {
  return {.mode = status.st_mode,
          .size = static_cast<std::uint64_t>(status.st_size),
          .inode = static_cast<std::uint64_t>(status.st_ino),
          .mtime = nanoseconds(status.st_mtim),
          .ctime = nanoseconds(status.st_ctim)};
}

std::optional<std::int64_t> birth_of(int folder, const std::string& path) {
  struct statx status {};
  if (::statx(folder, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BTIME, &status) != 0 ||
      (status.stx_mask & STATX_BTIME) == 0)
    return std::nullopt;
  return status.stx_btime.tv_sec * 1'000'000'000 + status.stx_btime.tv_nsec;
}

}  // namespace sortie
