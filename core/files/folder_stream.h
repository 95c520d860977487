#pragma once

#include <dirent.h>

#include <filesystem>
#include <memory>

#include "core/base/fd.h"

namespace sortie {

/// A folder whose entries are read one by one (readdir(3)), "." and ".." passed over.
class FolderStream {
 public:
  /// Follows links. Not open, with errno set, where the folder can't be listed.
  explicit FolderStream(const std::filesystem::path& folder);
  /// Takes an open folder; not open where there is none, or it can't be listed.
  explicit FolderStream(Fd folder);

  explicit operator bool() const noexcept { return stream_ != nullptr; }
  int descriptor() const { return ::dirfd(stream_.get()); }
  /// Null at the end, with errno 0, or where reading on failed; of a stream that is not open at
  /// once.
  const dirent* next();
  /// DT_REG, DT_DIR …; asked of the entry itself, no link followed, where the file system does not
  /// tell with the name. DT_UNKNOWN where it can't be asked.
  unsigned char kind(const dirent* entry) const;

 private:
  struct Close {
    void operator()(DIR* stream) const { ::closedir(stream); }
  };
  std::unique_ptr<DIR, Close> stream_;
};

}  // namespace sortie
