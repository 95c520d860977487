#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "policies/sandbox/layers.h"

namespace sortie {
namespace {

// RLIMIT_NPROC counts all of a user's threads on the machine, so that it can only be a backstop
// for the keeper's own count of the run's tree.
constexpr rlim_t kOthersThreads = 1024;

/// Never above the hard limit that is in force, which only root could raise.
int lower(__rlimit_resource resource, rlim_t value) noexcept {
  rlimit now{};
  if (::getrlimit(resource, &now) != 0) return errno;
  const rlim_t bound = std::min(value, now.rlim_max);
  const rlimit wanted{bound, bound};
  return ::setrlimit(resource, &wanted) == 0 ? 0 : errno;
}

}  // namespace

int apply_resource_limits(const SandboxProfile& profile) noexcept {
  const PolicyLimits& limits = profile.limits;
  if (const int error = lower(RLIMIT_CORE, 0)) return error;
  if (const int error = lower(RLIMIT_FSIZE, limits.file_size)) return error;
  if (const int error = lower(RLIMIT_NOFILE, static_cast<rlim_t>(limits.open_files))) return error;
  if (const int error = lower(RLIMIT_RTPRIO, 0)) return error;
  if (profile.use_namespaces || profile.uid == 0) return 0;
  return lower(RLIMIT_NPROC, static_cast<rlim_t>(limits.processes) + kOthersThreads);
}

}  // namespace sortie
