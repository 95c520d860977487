#include "core/workspace/apply/present_entry.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/error.h"
#include "core/base/patient_io.h"
#include "core/files/file_name.h"
#include "core/files/files.h"

namespace sortie {
namespace {

constexpr int kMostRaceRetries = 64;  // openat2(2): EAGAIN when something was renamed meanwhile

[[noreturn]] void fail_read(const std::string& path, int number) {
  throw Error(path_text(path) + ": can't be read: " + errno_text(number), ExitCode::environment);
}

std::string link_target(const Fd& folder, const std::string& name, const std::string& path) {
  std::string target(4096, '\0');
  const ssize_t length = ::readlinkat(folder.get(), name.c_str(), target.data(), target.size());
  if (length < 0) fail_read(path, errno);
  target.resize(static_cast<std::size_t>(length));
  return target;
}

std::string file_content(const Fd& folder, const std::string& name, const std::string& path,
                         struct stat& status) {
  const Fd file(::openat(folder.get(), name.c_str(),
                         O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file || ::fstat(file.get(), &status) != 0) fail_read(path, errno);
  if (!S_ISREG(status.st_mode)) fail_read(path, EINVAL);  // replaced meanwhile
  ReadBytes read = read_to_end(file.get(), {.max_bytes = kMostFileBytes});
  if (!read.problem.empty()) throw Error(path_text(path) + ": " + read.problem, ExitCode::conflict);
  return std::move(read.bytes);
}

}  // namespace

Fd open_real_folder(int root, const std::string& folder, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_DIRECTORY | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const char* name = folder.empty() ? "." : folder.c_str();
  for (int attempt = 0;; ++attempt) {
    const long number = ::syscall(SYS_openat2, root, name, &how, sizeof how);
    if (number >= 0) return Fd(static_cast<int>(number));
    if (errno != EINTR && (errno != EAGAIN || attempt >= kMostRaceRetries)) return {};
  }
}

std::pair<std::string, std::string> folder_and_name(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == path.npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

PresentEntry read_present(int root, const std::string& path) {
  using Kind = PresentEntry::Kind;
  const auto [above, name] = folder_and_name(path);
  const Fd folder = open_real_folder(root, above, O_PATH);
  PresentEntry present;
  if (!folder) {
    if (errno == ELOOP || errno == EXDEV) present.kind = Kind::behind_link;
    if (errno != ENOENT && errno != ENOTDIR && present.kind == Kind::none) fail_read(path, errno);
    return present;
  }
  if (::fstatat(folder.get(), name.c_str(), &present.status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno != ENOENT) fail_read(path, errno);
    return present;
  }
  const auto format = present.status.st_mode & S_IFMT;
  if (format == S_IFDIR) {
    present.kind = Kind::folder;
  } else if (format == S_IFLNK) {
    present.kind = Kind::file;
    present.entry = {0120000, link_target(folder, name, path)};
  } else if (format == S_IFREG) {
    present.kind = Kind::file;
    present.entry.content = file_content(folder, name, path, present.status);
    present.entry.mode = (present.status.st_mode & S_IXUSR) != 0 ? 0100755 : 0100644;
  } else {
    present.kind = Kind::other;
  }
  return present;
}

}  // namespace sortie
