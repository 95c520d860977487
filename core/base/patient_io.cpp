#include "core/base/patient_io.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace sortie {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLookAtStop{100};
constexpr milliseconds kAskAgain{20};

int until(steady_clock::time_point time) {
  const auto left = std::chrono::ceil<milliseconds>(time - steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

/// A descriptor to write to without ever blocking. O_NONBLOCK belongs to the open file description,
/// which the shell and others share, so it is set on one that is opened anew.
class Writer {
 public:
  explicit Writer(int descriptor) : descriptor_(descriptor) {
    struct stat status {};
    ::fstat(descriptor, &status);
    is_socket_ = S_ISSOCK(status.st_mode);
    if (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode)) return;
    const int flags = ::fcntl(descriptor, F_GETFL);
    // The replacement for a closed stdout is open for reading only: opened again, it would accept
    // all output silently.
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || (flags & O_NONBLOCK) != 0) return;
    const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
    own_ = Fd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    // A pipe that poll(2) calls writable has room for that much (pipe(7)).
    if (!own_) most_at_once_ = PIPE_BUF;
  }

  int descriptor() const { return own_ ? own_.get() : descriptor_; }
  ssize_t write(std::string_view bytes) const {
    if (is_socket_)
      return ::send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return ::write(descriptor(), bytes.data(), std::min(bytes.size(), most_at_once_));
  }

 private:
  int descriptor_;
  Fd own_;
  bool is_socket_ = false;
  std::size_t most_at_once_ = 1u << 20;
};

}  // namespace

ReadBytes read_to_end(int descriptor, const ReadLimits& limits) {
  ReadBytes result;
  std::array<char, 65536> buffer;
  const auto last = steady_clock::now() + limits.total;
  for (;;) {
    // Before the first read too: reading a named pipe without a writer would report its end.
    pollfd wait{descriptor, POLLIN, 0};
    const auto quiet = steady_clock::now() + limits.quiet;
    const int ready = ::poll(&wait, 1, until(std::min(quiet, last)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      result.problem = steady_clock::now() >= last
                           ? "was not complete within " + limit_text(limits.total)
                           : "sent no byte for " + limit_text(limits.quiet) + " before its end";
      return result;
    }
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) {
      if (steady_clock::now() < last) continue;
      result.problem = "was not complete within " + limit_text(limits.total);
      return result;
    }
    if (count < 0) {
      result.error = errno;
      result.problem = "can't be read: " + errno_text(result.error);
      return result;
    }
    if (count == 0) return result;
    result.bytes.append(buffer.data(), static_cast<std::size_t>(count));
    if (result.bytes.size() > limits.max_bytes) {
      result.problem = "is larger than " + std::to_string(limits.max_bytes) + " bytes";
      return result;
    }
  }
}

int write_within(int descriptor, std::string_view bytes, const WriteLimits& limits,
                 std::stop_token stop) {
  const Writer writer(descriptor);
  auto progress = steady_clock::now();
  const auto last = progress + limits.total;
  while (!bytes.empty()) {
    const auto limit = std::min(progress + limits.quiet, last);
    pollfd wait{writer.descriptor(), POLLOUT, 0};
    const int ready = ::poll(&wait, 1, until(std::min(limit, steady_clock::now() + kLookAtStop)));
    if (ready < 0 && errno != EINTR) return errno;
    if (ready <= 0) {
      if (stop.stop_requested()) return ECANCELED;
      if (steady_clock::now() >= limit) return ETIMEDOUT;
      continue;
    }
    const ssize_t count = writer.write(bytes);
    if (count < 0 && errno == EAGAIN) {
      // A terminal may be writable for poll(2) and still refuse the bytes.
      ::poll(nullptr, 0, static_cast<int>(kAskAgain.count()));
      if (stop.stop_requested()) return ECANCELED;
      if (steady_clock::now() >= limit) return ETIMEDOUT;
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(count));
    progress = steady_clock::now();
  }
  return 0;
}

Fd open_for_writing(const std::filesystem::path& path, const WriteLimits& limits,
                    std::stop_token stop) {
  const auto last = steady_clock::now() + limits.quiet;
  for (;;) {
    Fd opened(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (opened || errno != ENXIO) return opened;
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISFIFO(status.st_mode)) {
      errno = ENXIO;
      return opened;
    }
    if (stop.stop_requested() || steady_clock::now() >= last) {
      errno = stop.stop_requested() ? ECANCELED : ETIMEDOUT;
      return opened;
    }
    ::poll(nullptr, 0, static_cast<int>(kAskAgain.count()));
  }
}

std::string write_problem(int number, const WriteLimits& limits) {
  if (number == ETIMEDOUT)
    return "its reader took nothing for " + limit_text(limits.quiet) +
           ", or not all of it within " + limit_text(limits.total);
  if (number == ECANCELED) return "its reader did not take all before the run had to end";
  return errno_text(number);
}

}  // namespace sortie
