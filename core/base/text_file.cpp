#include "core/base/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/base/text.h"

namespace sortie {
namespace {

const char* problem_with(mode_t mode, Pipes pipes) noexcept {
  if (S_ISREG(mode)) return nullptr;
  if (S_ISDIR(mode)) return "is a folder";
  if (S_ISFIFO(mode) && pipes == Pipes::accepted) return nullptr;
  return "is no regular file";
}

std::string read_all(int descriptor, std::uint64_t max_bytes, std::string& problem) {
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) problem = "can't be read: " + errno_text(errno);
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > max_bytes) {
      problem = "is larger than " + std::to_string(max_bytes) + " bytes";
      return text;
    }
  }
}

}  // namespace

TextFile read_bytes_file(const std::filesystem::path& path, std::uint64_t max_bytes, Pipes pipes) {
  // Not blocking, so that a pipe that nobody writes to is empty rather than waited for.
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return {.problem = "no such file"};
    return {.problem = "can't be read: " + errno_text(errno)};
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return {.problem = "can't be read: " + errno_text(errno)};
  if (const char* problem = problem_with(status.st_mode, pipes)) return {.problem = problem};
  ::fcntl(file.get(), F_SETFL, O_RDONLY);

  TextFile read;
  read.text = read_all(file.get(), max_bytes, read.problem);
  if (!read.problem.empty()) read.text.clear();
  return read;
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
