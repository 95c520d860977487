#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

namespace sortie {

/// Shows without reading a file whether it was written to: the kernel updates ctime with every
/// change, and nobody can set it.
struct FileStamp {
  unsigned mode = 0;
  std::uint64_t size = 0;
  std::uint64_t inode = 0;
  std::int64_t mtime = 0;  ///< nanoseconds
  std::int64_t ctime = 0;  ///< nanoseconds
  bool operator==(const FileStamp&) const = default;
};

FileStamp stamp_of(const struct stat& status);

/// The birth time of the file or link itself, in nanoseconds. Nobody can set it, and a new file in
/// place of the old one, even with the same inode number, has another. Nothing if there is no file,
/// or the file system does not store it.
std::optional<std::int64_t> birth_of(int folder, const std::string& path);

}  // namespace sortie
