#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace sortie {

/// What tells, without reading it, that a file was not written to: the kernel moves ctime on with
/// every change, and nobody can set it.
struct FileStamp {
  unsigned mode = 0;
  std::uint64_t size = 0;
  std::uint64_t inode = 0;
  std::int64_t mtime = 0;  ///< nanoseconds
  std::int64_t ctime = 0;  ///< nanoseconds
  bool operator==(const FileStamp&) const = default;
};

FileStamp stamp_of(const struct stat& status);

/// When the file itself came into being, its last link not followed; nanoseconds. Nobody can set
/// it, and to write a file anew in the old one's place, which may get the old inode's number,
/// changes it. Nothing where there is no file, or the file system does not keep it.
std::optional<std::int64_t> birth_of(int folder, const std::string& path);

/// Both sides of a copied file or link as they were when the copy was made.
struct CopiedFile {
  FileStamp source;
  FileStamp copy;
  bool operator==(const CopiedFile&) const = default;
};

/// All files and links of a copied tree, by path.
struct Manifest {
  std::map<std::string, CopiedFile> files;
  bool operator==(const Manifest&) const = default;
};

/// One record a file: ten numbers and the path, ended by a zero byte, which no path holds.
std::string manifest_text(const Manifest& manifest);
/// Nothing for a text that is no whole manifest.
std::optional<Manifest> parse_manifest(const std::string& text);

}  // namespace sortie
