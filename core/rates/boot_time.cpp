#include "core/rates/boot_time.h"

#include <fcntl.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <ctime>

#include "core/base/error.h"
#include "core/base/fd.h"

namespace sortie {

SystemBootTime::SystemBootTime() {
  const Fd file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  char text[40];
  const ssize_t length = file ? ::read(file.get(), text, sizeof text) : 0;
  for (ssize_t i = 0; i < length && std::isspace(static_cast<unsigned char>(text[i])) == 0; ++i)
    boot_ += text[i];
}

std::chrono::nanoseconds SystemBootTime::now() const {
  std::timespec time{};
  if (::clock_gettime(CLOCK_BOOTTIME, &time) != 0) throw system_error("clock_gettime");
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace sortie
