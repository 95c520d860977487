#include "core/files/file_errors.h"

#include <cerrno>

#include "core/base/error.h"
#include "core/files/file_name.h"

namespace fs = std::filesystem;

namespace sortie::disk {

void fail(const fs::path& path, const std::string& cause) {
  throw ToolError(path_text(path) + ": " + cause);
}

void fail_errno(const fs::path& path, int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      fail(path, "no such file");
    case EXDEV:
      fail(path, "leads outside the workspace");
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
      fail(path, errno_text(number));
  }
}

bool is_missing(int number) { return number == ENOENT || number == ENOTDIR; }

}  // namespace sortie::disk
