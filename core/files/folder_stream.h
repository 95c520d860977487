#pragma once

#include <dirent.h>

#include <filesystem>
#include <memory>

#include "core/base/fd.h"

namespace sortie {

/// Reads a folder's entries one by one (readdir(3)), without "." and "..".
class FolderStream {
 public:
  /// Follows links. Not open, with errno set, if the folder can't be listed.
  explicit FolderStream(const std::filesystem::path& folder);
  /// Takes an open folder; not open if there is none, or it can't be listed.
  explicit FolderStream(Fd folder);

  explicit operator bool() const noexcept { return stream_ != nullptr; }
  int descriptor() const { return ::dirfd(stream_.get()); }
  /// Null at the end, with errno 0, or on failure, or if the stream is not open.
  const dirent* next();
  /// DT_REG, DT_DIR …; from fstatat(2), no link followed, if the file system does not give it with
  /// the name. DT_UNKNOWN if that fails.
  unsigned char kind(const dirent* entry) const;

 private:
  struct Close {
    void operator()(DIR* stream) const { ::closedir(stream); }
  };
  std::unique_ptr<DIR, Close> stream_;
};

}  // namespace sortie
