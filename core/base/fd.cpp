#include "core/base/fd.h"

#include <fcntl.h>

#include <cerrno>

#include "core/base/error.h"

namespace sortie {

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw system_error("pipe");
  return {Fd(ends[0]), Fd(ends[1])};
}

bool write_all(int descriptor, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace sortie
