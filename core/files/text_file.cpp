#include "core/files/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/base/patient_io.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// Of a pipe or device: it has no size that tells before it is read.
constexpr std::uint64_t kMostOfStream = 64ull << 20;

const char* problem_with(mode_t mode, Pipes pipes) noexcept {
  if (S_ISREG(mode)) return nullptr;
  if (S_ISDIR(mode)) return "is a folder";
  if ((S_ISFIFO(mode) || S_ISCHR(mode)) && pipes == Pipes::accepted) return nullptr;
  return "is no regular file";
}

}  // namespace

TextFile read_bytes_file(const std::filesystem::path& path, std::uint64_t max_bytes, Pipes pipes) {
  // Not blocking: the open of a named pipe would wait for its other end.
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return {.problem = "no such file"};
    if (errno == ENXIO) return {.problem = "is no regular file"};  // a socket (open(2))
    return {.problem = "can't be read: " + errno_text(errno)};
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return {.problem = "can't be read: " + errno_text(errno)};
  if (const char* problem = problem_with(status.st_mode, pipes)) return {.problem = problem};
  if (!S_ISREG(status.st_mode)) max_bytes = std::min(max_bytes, kMostOfStream);
  // Before a byte of it is read.
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

}  // namespace sortie
