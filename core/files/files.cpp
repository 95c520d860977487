#include "core/files/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/base/patient_io.h"
#include "core/files/file_name.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// The most that is read from a pipe or device, whose size is not known in advance.
constexpr std::uint64_t kMostOfStream = 64ull << 20;

const char* problem_with(mode_t mode, Pipes pipes) noexcept {
  if (S_ISREG(mode)) return nullptr;
  if (S_ISDIR(mode)) return "is a folder";
  if ((S_ISFIFO(mode) || S_ISCHR(mode)) && pipes == Pipes::accepted) return nullptr;
  return "is not a regular file";
}

Error file_error(const fs::path& path, int number) { return path_error(path_text(path), number); }

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

TextFile read_bytes_file(const std::filesystem::path& path, std::uint64_t max_bytes, Pipes pipes) {
  // Non-blocking: opening a named pipe would wait for its other end.
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return {.problem = "no such file"};
    if (errno == ENXIO) return {.problem = "is not a regular file"};  // a socket (open(2))
    return {.problem = "can't be read: " + errno_text(errno)};
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return {.problem = "can't be read: " + errno_text(errno)};
  if (const char* problem = problem_with(status.st_mode, pipes)) return {.problem = problem};
  if (!S_ISREG(status.st_mode)) max_bytes = std::min(max_bytes, kMostOfStream);
  // Before it is read.
  if (S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) > max_bytes)
    return {.problem = "is larger than " + std::to_string(max_bytes) + " bytes"};
  ReadBytes read = read_to_end(file.get(), {.max_bytes = max_bytes});
  if (!read.problem.empty()) return {.problem = std::move(read.problem)};
  return {.text = std::move(read.bytes)};
}

TextFile read_text_file(const std::filesystem::path& path, std::uint64_t max_bytes, Pipes pipes) {
  TextFile read = read_bytes_file(path, max_bytes, pipes);
  if (read.problem.empty() && read.text.find('\0') != std::string::npos)
    read.problem = "is binary (a NUL byte)";
  if (read.problem.empty() && !is_utf8(read.text)) read.problem = "is not UTF-8";
  if (!read.problem.empty()) read.text.clear();
  return read;
}

AtomicFile::AtomicFile(fs::path path, unsigned mode)
    : path_(std::move(path)), temporary_(folder_of(path_) / temporary_name()) {
  struct stat there {};
  if (::stat(path_.c_str(), &there) == 0 && S_ISDIR(there.st_mode)) {
    throw file_error(path_, EISDIR);
  }
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  file_ = Fd(::open(temporary_.c_str(), flags, 0600));
  if (!file_) throw file_error(path_, errno);
  if (::fchmod(file_.get(), mode & 07777) != 0) {
    const int number = errno;
    ::unlink(temporary_.c_str());
    throw file_error(path_, number);
  }
}

AtomicFile::~AtomicFile() {
  if (file_) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  if (!write_all(file_.get(), bytes)) throw file_error(path_, errno);
}

void AtomicFile::give_to(unsigned user, unsigned group) {
  if (::fchown(file_.get(), user, group) != 0) throw file_error(path_, errno);
}

void AtomicFile::commit(Synced synced) {
  if (synced != Synced::nothing && ::fsync(file_.get()) != 0) throw file_error(path_, errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw file_error(path_, errno);
  file_.reset();
  if (synced != Synced::name) return;
  // The name is on disk only after its folder is synced.
  const Fd folder(::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder.get()) != 0) throw file_error(path_, errno);
}

std::string read_file(const fs::path& path, std::uint64_t max_bytes) {
  const auto fail = [&](const std::string& cause) {
    return Error(path_text(path) + ": " + cause, ExitCode::usage);
  };
  // Non-blocking: opening a named pipe would wait for its other end.
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file) throw fail(errno_text(errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw fail(errno_text(errno));
  if (S_ISDIR(status.st_mode)) throw fail("is a folder");
  if (!S_ISREG(status.st_mode)) throw fail("is not a regular file");
  if (static_cast<std::uint64_t>(status.st_size) > max_bytes)
    throw fail("is larger than " + std::to_string(max_bytes) + " bytes");
  ReadBytes read = read_to_end(file.get(), {.max_bytes = max_bytes});
  if (read.error != 0) throw fail(errno_text(read.error));
  if (!read.problem.empty()) throw fail(read.problem);
  return std::move(read.bytes);
}

void write_file(const fs::path& path, std::string_view content, unsigned mode, Synced synced) {
  AtomicFile file(path, mode);
  file.write(content);
  file.commit(synced);
}

}  // namespace sortie
