#pragma once

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "core/base/fd.h"

namespace sortie::test {

/// A folder in which root neither can make files: another user does as chmod(2) tells, root is kept
/// out by the attribute of chattr(1), where the file system has it.
class ImmutableFolder {
 public:
  explicit ImmutableFolder(const std::filesystem::path& path) : path_(path) {
    ::chmod(path.c_str(), 0500);
    works_ = ::access(path.c_str(), W_OK) != 0 || set(true);
  }
  ImmutableFolder(const ImmutableFolder&) = delete;
  ~ImmutableFolder() {
    set(false);
    ::chmod(path_.c_str(), 0700);
  }
  bool works() const { return works_; }

 private:
  bool set(bool on) {
    const Fd folder(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    int flags = 0;
    if (::ioctl(folder.get(), FS_IOC_GETFLAGS, &flags) != 0) return false;
    flags = on ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
    return ::ioctl(folder.get(), FS_IOC_SETFLAGS, &flags) == 0;
  }
  std::filesystem::path path_;
  bool works_ = false;
};

}  // namespace sortie::test
