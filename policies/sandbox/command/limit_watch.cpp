#include "policies/sandbox/command/limit_watch.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "core/text/output_buffer.h"

namespace sortie {
namespace {

constexpr std::uint64_t kPerSocket = 1 << 20;
/// With fewer sockets than these, growth of kernel memory is caused by other programs.
constexpr int kFewestSockets = 64;

/// Free pages that each processor caches (the pagesets of /proc/zoneinfo): not included in MemFree,
/// and hundreds of MiB after sockets' queues were freed.
std::uint64_t kept_by_processors() {
  std::uint64_t pages = 0;
  std::ifstream file("/proc/zoneinfo");
  for (std::string word; file >> word;) {
    std::uint64_t count = 0;
    if (word == "count:" && file >> count) pages += count;
  }
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

constexpr unsigned kUnmappedEvery = 5;  // samples: checks all descriptors

/// Unreclaimable memory of the machine's kernel in bytes (/proc/meminfo), which belongs to no
/// program and no file. Socket queues are counted here and in no process. Not enough by itself,
/// since other programs make it grow too. 0 if /proc can't be read.
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

/// The most kernel memory that sockets can hold, including sockets queued in sockets: far above the
/// kernel's default buffer sizes.
/// @param sockets     open sockets of the run's processes
/// @param open_files  the limit of open files, which also limits queued sockets
std::uint64_t most_held_by(int sockets, int open_files) {
  if (sockets < kFewestSockets) return 0;
  return (static_cast<std::uint64_t>(sockets) + static_cast<std::uint64_t>(open_files)) *
         kPerSocket;
}

template <typename Member>
pid_t largest(const std::vector<SampledCommand>& sampled, Member member) {
  return std::max_element(
             sampled.begin(), sampled.end(),
             [&](const auto& a, const auto& b) { return a.use.*member < b.use.*member; })
      ->first;
}

std::uint64_t shared_once(const std::vector<pid_t>& commands) {
  std::uint64_t sum = 0;
  for (const pid_t command : commands) sum += proportional_memory(command);
  return sum;
}

}  // namespace

LimitWatch::LimitWatch(const SandboxProfile& profile, const PrivateSets& sets)
    : profile_(profile), sets_(sets), least_kernel_(kernel_memory()) {}

void LimitWatch::add_ended(const rusage& use) {
  // Blocks of 512 bytes, those of all descendants that were reaped included (getrusage(2)).
  written_ += static_cast<std::uint64_t>(use.ru_oublock) * 512;
}

std::vector<Excess> LimitWatch::sample(const std::vector<pid_t>& commands) {
  if (commands.empty()) return {};
  std::vector<SampledCommand> sampled;
  TreeUse sum;
  // With namespaces the keeper is the first of its own, and /proc that of it.
  auto uses =
      measure_descendants(commands, profile_.use_namespaces ? Listed::own : Listed::every, files_);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    sampled.push_back({commands[i], std::move(uses[i])});
    const TreeUse& use = sampled.back().use;
    sum.processes += use.processes;
    sum.memory_bytes += use.memory_bytes;
    sum.written_bytes += use.written_bytes;
  }
  const PolicyLimits& limits = profile_.limits;
  const std::uint64_t kept = private_bytes();
  std::vector<Excess> excess;
  if (samples_++ % kUnmappedEvery == 0)
    if (auto queued = measure_unmapped(sampled)) excess.push_back(std::move(*queued));
  if (limits.processes > 0 && sum.processes > limits.processes) {
    excess.push_back({largest(sampled, &TreeUse::processes), Ending::process_limit,
                      "process limit " + std::to_string(limits.processes) +
                          " reached (limits.processes): " + std::to_string(sum.processes) +
                          " running"});
  }
  const std::uint64_t beside = kept + unmapped_;
  const std::uint64_t memory = profile_.memory_bytes;
  if (memory > 0 && sum.memory_bytes + beside > memory) {
    const std::uint64_t used = shared_once(commands) + beside;
    if (used > memory) {
      excess.push_back({largest(sampled, &TreeUse::memory_bytes), Ending::memory_limit,
                        memory_words() + ": " + size_in_words(used) + " in use"});
    }
  }
  const std::uint64_t written = written_ + sum.written_bytes + kept;
  if (limits.disk > 0 && written > limits.disk) {
    excess.push_back({largest(sampled, &TreeUse::written_bytes), Ending::disk_limit,
                      "disk limit " + size_in_words(limits.disk) + " reached (limits.disk): " +
                          size_in_words(written) + " written by the run"});
  }
  return excess;
}

std::string LimitWatch::memory_words() const {
  return "memory limit " + size_in_words(profile_.memory_bytes) + " reached (limits.memory)";
}

/// Measures memory that may be mapped by no process, so that it is in no process's count.
/// @return the command whose sockets' queues exceed the limit
std::optional<Excess> LimitWatch::measure_unmapped(const std::vector<SampledCommand>& commands) {
  unmapped_ = profile_.use_namespaces ? shared_segments() + sets_.segment_bytes() : 0;
  int sockets = 0;
  std::pair<int, pid_t> most{-1, 0};
  for (const SampledCommand& command : commands) {
    const DescriptorUse use = measure_descriptors(command.use.all);
    unmapped_ += use.memory_files;
    sockets += use.sockets;
    most = std::max(most, {use.sockets, command.first});
  }
  const std::uint64_t memory = profile_.memory_bytes;
  const std::uint64_t now = kernel_memory();
  // Memory that other programs free meanwhile must not hide the run's growth.
  least_kernel_ = std::min(now, least_kernel_);
  const std::uint64_t held =
      std::min(now - least_kernel_, most_held_by(sockets, profile_.limits.open_files));
  if (memory == 0 || held <= memory) return std::nullopt;
  return Excess{most.second, Ending::memory_limit,
                memory_words() + ": " + size_in_words(held) + " in the queues of " +
                    std::to_string(sockets) + " sockets"};
}

/// The bytes in HOME, /tmp, /var/tmp and /dev/shm, also of the private sets: file systems in
/// memory.
std::uint64_t LimitWatch::private_bytes() const {
  struct statvfs use {};
  if (!profile_.use_namespaces || ::statvfs("/dev/shm", &use) != 0) return 0;
  return static_cast<std::uint64_t>(use.f_blocks - use.f_bfree) * use.f_frsize + sets_.kept_bytes();
}

}  // namespace sortie
