#include "core/files/folder_stream.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string_view>

namespace sortie {

FolderStream::FolderStream(const std::filesystem::path& folder)
    : stream_(::opendir(folder.c_str())) {}

FolderStream::FolderStream(Fd folder) {
  if (!folder) return;
  stream_.reset(::fdopendir(folder.get()));
  if (stream_) folder.release();
}

const dirent* FolderStream::next() {
  if (!stream_) return nullptr;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(stream_.get());
    if (entry == nullptr) return nullptr;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") return entry;
  }
}

unsigned char FolderStream::kind(const dirent* entry) const {
  if (entry->d_type != DT_UNKNOWN) return entry->d_type;
  struct stat status {};
  if (::fstatat(descriptor(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return static_cast<unsigned char>(IFTODT(status.st_mode));
}

}  // namespace sortie
