#include "core/files/new_file_mode.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "core/base/fd.h"

namespace sortie {

unsigned new_file_mode() noexcept {
  constexpr unsigned kMode = 0644;
  // umask(2) can only be read by changing it, which other threads would notice (proc(5)).
  char text[512] = {};
  const Fd status(::open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  if (!status || ::read(status.get(), text, sizeof text - 1) <= 0) return kMode & ~077u;
  const char* const line = std::strstr(text, "\nUmask:");
  if (line == nullptr) return kMode;
  return kMode & ~static_cast<unsigned>(std::strtoul(line + std::strlen("\nUmask:"), nullptr, 8));
}

}  // namespace sortie
