#include "core/files/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "core/base/error.h"
#include "core/files/file_name.h"

namespace sortie::disk {

void fail(const std::filesystem::path& path, const std::string& cause) {
  throw ToolError(path_text(path) + ": " + cause);
}

void fail_outside(const std::filesystem::path& path) {
  throw LeadsOutside(path, path_text(path) + ": leads outside the workspace");
}

void fail_errno(const std::filesystem::path& path, int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      fail(path, "no such file");
    case EXDEV:
      fail_outside(path);
    case ELOOP:
      fail(path, "is a loop of links, or a chain too long to follow");
    case EACCES:
    case EPERM:
      fail(path, "no permission");
    case EROFS:
      fail(path, "is protected: it can be read, not changed");
    case EBUSY:
      fail(path, "is protected: it can't be removed or replaced");
    case EISDIR:
      fail(path, "is a folder");
    case EAGAIN:
      fail(path, "keeps being renamed by another process");
    case ENAMETOOLONG:
      fail(path, "the name is too long");
    default:
      throw ToolError(path_text(path) + ": " + errno_text(number), cause_of(number));
  }
}

bool is_missing(int number) { return number == ENOENT || number == ENOTDIR; }

}  // namespace sortie::disk

namespace sortie {
namespace fs = std::filesystem;
namespace {

constexpr int kMostRaceRetries = 64;  // openat2(2): EAGAIN when something was renamed meanwhile
constexpr std::size_t kPiece = 256u << 10;

using disk::fail;
using disk::fail_errno;
using disk::is_missing;

void check_regular(const Fd& file, const fs::path& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_errno(path, errno);
  if (S_ISDIR(status.st_mode)) fail(path, "is a folder");
  if (!S_ISREG(status.st_mode)) fail(path, "is not a regular file (a pipe, socket or device)");
}

}  // namespace

Fd open_beneath(int root, const std::string& name, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (int attempt = 0;; ++attempt) {
    const long number = ::syscall(SYS_openat2, root, name.c_str(), &how, sizeof how);
    if (number >= 0) return Fd(static_cast<int>(number));
    const bool again = errno == EINTR || (errno == EAGAIN && attempt < kMostRaceRetries);
    if (!again) return {};
  }
}

FileStream stream_below(int root) {
  return [root](const fs::path& path, const std::function<bool(std::string_view)>& take) {
    // Checked before it is opened: opening a device or a pipe can have side effects.
    const Fd looked = open_beneath(root, path.string(), O_PATH);
    if (!looked && is_missing(errno)) return false;
    if (!looked) fail_errno(path, errno);
    check_regular(looked, path);
    const Fd file = open_beneath(root, path.string(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (!file && is_missing(errno)) return false;
    if (!file) fail_errno(path, errno);
    check_regular(file, path);
    std::vector<char> piece(kPiece);
    for (;;) {
      const ssize_t count = ::read(file.get(), piece.data(), piece.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail_errno(path, errno);
      if (count == 0 || !take({piece.data(), static_cast<std::size_t>(count)})) return true;
    }
  };
}

}  // namespace sortie
