#include "policies/sandbox/layers/kernel_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <string>

namespace sortie {
namespace {

constexpr std::uint64_t kPerSocket = 1 << 20;
/// With fewer than these, what grows on the machine is somebody else's.
constexpr int kFewestSockets = 64;

/// Free pages that each processor keeps for itself (the pagesets of /proc/zoneinfo): MemFree has
/// them not, and where sockets' queues were freed they are hundreds of MiB.
std::uint64_t kept_by_processors() {
  std::uint64_t pages = 0;
  std::ifstream file("/proc/zoneinfo");
  for (std::string word; file >> word;) {
    std::uint64_t count = 0;
    if (word == "count:" && file >> count) pages += count;
  }
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

std::uint64_t kernel_memory() {
  std::map<std::string, std::uint64_t> bytes;
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::uint64_t number = 0;
  while (file >> name >> number) {
    bytes[name] = number * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  std::uint64_t others = kept_by_processors();
  for (const char* one : {"MemFree:", "Buffers:", "Cached:", "SwapCached:", "AnonPages:",
                          "SReclaimable:", "Balloon:", "Hugetlb:"})
    others += bytes[one];
  const std::uint64_t total = bytes["MemTotal:"];
  return total - std::min(total, others);
}

std::uint64_t most_held_by(int sockets, int open_files) {
  if (sockets < kFewestSockets) return 0;
  return (static_cast<std::uint64_t>(sockets) + static_cast<std::uint64_t>(open_files)) *
         kPerSocket;
}

}  // namespace sortie
