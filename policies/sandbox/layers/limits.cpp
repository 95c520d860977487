#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "policies/sandbox/layers/layers.h"

namespace sortie {
namespace {

constexpr rlim_t kCpuGrace = 5;  // seconds between SIGXCPU and SIGKILL

/// Never above the hard limit that is in force, which only root could raise.
int lower(__rlimit_resource resource, rlim_t soft, rlim_t hard) noexcept {
  rlimit now{};
  if (::getrlimit(resource, &now) != 0) return errno;
  const rlimit wanted{std::min(soft, now.rlim_max), std::min(hard, now.rlim_max)};
  return ::setrlimit(resource, &wanted) == 0 ? 0 : errno;
}

int lower(__rlimit_resource resource, rlim_t value) noexcept {
  return lower(resource, value, value);
}

}  // namespace

int apply_resource_limits(const SandboxProfile& profile, std::uint64_t cpu_seconds) noexcept {
  const PolicyLimits& limits = profile.limits;
  if (const int error = lower(RLIMIT_CORE, 0)) return error;
  if (const int error = lower(RLIMIT_FSIZE, limits.file_size)) return error;
  if (const int error = lower(RLIMIT_NOFILE, static_cast<rlim_t>(limits.open_files))) return error;
  if (const int error = lower(RLIMIT_RTPRIO, 0)) return error;
  if (cpu_seconds > 0) {
    // SIGXCPU first: where both are equal the kernel sends SIGKILL, which tells nobody why.
    if (const int error = lower(RLIMIT_CPU, cpu_seconds, cpu_seconds + kCpuGrace)) return error;
  }
  if (!profile.counts_own_tasks || limits.processes <= 0) return 0;
  return lower(RLIMIT_NPROC, static_cast<rlim_t>(most_tasks(limits)));
}

std::uint64_t cpu_seconds(const SandboxProfile& profile, std::chrono::milliseconds timeout) {
  cpu_set_t usable;
  const int count = ::sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 1;
  const auto longest =
      std::chrono::ceil<std::chrono::seconds>(std::max(timeout, profile.limits.command_timeout));
  return static_cast<std::uint64_t>(longest.count()) * static_cast<std::uint64_t>(count);
}

}  // namespace sortie
