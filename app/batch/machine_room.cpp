#include "app/batch/machine_room.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>

#include "core/files/files.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

std::uint64_t number_in(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() ? number : kUnknown;
}

std::uint64_t free_of_machine() {
  const std::string text = read_bytes_file("/proc/meminfo", 64u << 10).text;
  for (const std::string_view line : split_lines(text))
    if (line.starts_with("MemAvailable:")) {
      const std::uint64_t kib = number_in(line);
      return kib == kUnknown ? kUnknown : kib << 10;
    }
  return kUnknown;
}

/// Of the container, where it has a limit: cgroup v2, as seen from inside of it.
std::uint64_t free_of_cgroup() {
  const std::uint64_t most = number_in(read_bytes_file("/sys/fs/cgroup/memory.max", 100).text);
  const std::uint64_t now = number_in(read_bytes_file("/sys/fs/cgroup/memory.current", 100).text);
  if (most == kUnknown || now == kUnknown) return kUnknown;
  return most > now ? most - now : 0;
}

}  // namespace

int jobs_for_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return 2;
  return std::max(CPU_COUNT(&cores), 1) * 2;
}

std::uint64_t free_memory() { return std::min(free_of_machine(), free_of_cgroup()); }

}  // namespace sortie
