#include "app/artifacts/held_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/patient_io.h"
#include "core/files/file_name.h"
#include "core/files/new_file_mode.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr int kFolder = O_DIRECTORY | O_CLOEXEC;

bool is_same_inode(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

fs::path parent_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

bool leads_to(const fs::path& path, int held) {
  struct stat there {};
  struct stat own {};
  return ::stat(path.c_str(), &there) == 0 && ::fstat(held, &own) == 0 && is_same_inode(there, own);
}

/// A file under a temporary name in a folder, removed unless it got its own name.
class NewFile {
 public:
  explicit NewFile(int folder) : folder_(folder), name_(temporary_name()) {
    file_ = Fd(::openat(folder, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                        0600));
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (file_) ::unlinkat(folder_, name_.c_str(), 0);
  }
  /// @return  0 or the errno
  int become(const std::string& name, std::string_view content) {
    if (!file_ || ::fchmod(file_.get(), new_file_mode()) != 0 || !write_all(file_.get(), content) ||
        ::fsync(file_.get()) != 0 || ::renameat(folder_, name_.c_str(), folder_, name.c_str()) != 0)
      return errno;
    file_.reset();
    // The name is on disk only after its folder is synced; one that can't be read can't be.
    const Fd readable(::openat(folder_, ".", O_RDONLY | kFolder));
    return readable && ::fsync(readable.get()) != 0 ? errno : 0;
  }

 private:
  int folder_;
  std::string name_;
  Fd file_;
};

}  // namespace

std::optional<int> named_descriptor(const std::string& path) {
  const std::string normal = fs::path(path).lexically_normal().string();
  if (normal == "/dev/stdin") return 0;
  if (normal == "/dev/stdout") return 1;
  if (normal == "/dev/stderr") return 2;
  for (const std::string& folder : {std::string("/dev/fd/"), std::string("/proc/self/fd/"),
                                    "/proc/" + std::to_string(::getpid()) + "/fd/"}) {
    if (!normal.starts_with(folder)) continue;
    int number = -1;
    const char* end = normal.data() + normal.size();
    const auto read = std::from_chars(normal.data() + folder.size(), end, number);
    if (read.ec == std::errc() && read.ptr == end && number >= 0) return number;
  }
  return std::nullopt;
}

HeldOutput::HeldOutput(std::string flag, std::string path)
    : flag_(std::move(flag)), path_(std::move(path)) {
  if (named_descriptor(path_)) return;
  const fs::path named(path_);
  name_ = named.filename().string();
  folder_ = Fd(::open(parent_of(named).c_str(), O_PATH | kFolder));
  if (!folder_) throw InputError(flag_ + " " + path_text(path_) + ": " + errno_text(errno));
  struct stat there {};
  // A pipe or a device may stand behind a link: /dev/stdout-like names are links.
  Fd file(::open(path_.c_str(), O_PATH | O_CLOEXEC));
  if (file && ::fstat(file.get(), &there) == 0 && !S_ISREG(there.st_mode)) file_ = std::move(file);
}

bool HeldOutput::is_stderr() const { return named_descriptor(path_) == STDERR_FILENO; }

void HeldOutput::remove_stale() const {
  struct stat there {};
  if (!folder_ || file_ ||
      ::fstatat(folder_.get(), name_.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(there.st_mode))
    return;
  if (::unlinkat(folder_.get(), name_.c_str(), 0) != 0 && errno != ENOENT)
    throw Error(flag_ + " " + path_text(path_) + ": " + errno_text(errno), ExitCode::usage);
}

void HeldOutput::write(std::string_view content, const std::stop_token& stop) const {
  if (!folder_ || file_) return write_into(content, stop);
  if (!leads_to(parent_of(path_), folder_.get()))
    throw Error(flag_ + " " + path_text(path_) +
                    ": its folder was moved or replaced during the run; nothing is written there",
                ExitCode::integrity);
  replace(content);
}

/// To what was there at the start: a file that has its name by now is somebody else's.
void HeldOutput::write_into(std::string_view content, const std::stop_token& stop) const {
  const WriteLimits limits;
  int number = 0;
  if (const auto descriptor = named_descriptor(path_)) {
    number = write_within(*descriptor, content, limits, stop);
  } else {
    const Fd opened =
        open_for_writing("/proc/self/fd/" + std::to_string(file_.get()), limits, stop);
    number = opened ? write_within(opened.get(), content, limits, stop) : errno;
  }
  if (number != 0)
    throw Error(flag_ + " " + path_text(path_) + ": " + write_problem(number, limits),
                ExitCode::environment, cause_of(number));
}

void HeldOutput::replace(std::string_view content) const {
  if (const int number = NewFile(folder_.get()).become(name_, content); number != 0)
    throw Error(flag_ + " " + path_text(path_) + ": " + errno_text(number), ExitCode::environment,
                cause_of(number));
}

}  // namespace sortie
