#include "app/standard_input.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/base/error.h"
#include "core/base/text.h"

namespace sortie {
namespace {

constexpr std::size_t kMostBytes = 1u << 20;
constexpr int kQuietMilliseconds = 10'000;

}  // namespace

std::optional<std::string> read_standard_input() {
  if (::isatty(STDIN_FILENO) == 1) return std::nullopt;
  std::string text;
  std::array<char, 64 * 1024> buffer;
  for (;;) {
    pollfd wait{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&wait, 1, kQuietMilliseconds);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) throw InputError("stdin: no byte for 10 s, and its end was not reached");
    if (ready < 0 || (wait.revents & POLLNVAL) != 0) return std::nullopt;
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) throw InputError("stdin: " + errno_text(errno));
    if (count == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > kMostBytes) throw InputError("stdin: more than 1 MiB");
  }
  if (!is_utf8(text)) throw InputError("stdin: is not UTF-8");
  return text;
}

}  // namespace sortie
