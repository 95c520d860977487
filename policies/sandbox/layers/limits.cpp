#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "policies/sandbox/layers/layers.h"

namespace sortie {
namespace {

constexpr rlim_t kCpuGrace = 5;  // seconds between SIGXCPU and SIGKILL

/// Never above the current hard limit, which only root could raise.
int lower(int resource, rlim_t soft, rlim_t hard) noexcept {
  rlimit now{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) return errno;
  const rlimit wanted{std::min(soft, now.rlim_max), std::min(hard, now.rlim_max)};
  return ::setrlimit(static_cast<__rlimit_resource>(resource), &wanted) == 0 ? 0 : errno;
}

struct Capabilities {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2]{};

  bool read() noexcept { return ::syscall(SYS_capget, &header, sets) == 0; }
  bool write() noexcept { return ::syscall(SYS_capset, &header, sets) == 0; }
  bool has(unsigned capability) const noexcept {
    return (sets[capability / 32].effective >> (capability % 32)) & 1;
  }
  bool is_empty() const noexcept {
    for (const auto& set : sets)
      if ((set.effective | set.permitted | set.inheritable) != 0) return false;
    return true;
  }
};

// uid 0 gets no capabilities, not even at exec(2), and no process can change that.
constexpr unsigned long kBits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                                SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

/// Whether this process inherits closed sets: the bits are set last, and are locked. Somebody else may
/// have set the same ones, so two capabilities are looked at, too.
bool are_sets_closed() noexcept {
  return ::prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) == static_cast<int>(kBits) &&
         ::prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 0 &&
         ::prctl(PR_CAPBSET_READ, CAP_SETUID, 0, 0, 0) == 0;
}

/// Needs CAP_SETPCAP; a process without it gains nothing from these sets, since no_new_privs
/// applies at its exec.
int close_sets() noexcept {
  if (are_sets_closed()) return 0;
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0;
       ++capability) {
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return errno;
  }
  return ::prctl(PR_SET_SECUREBITS, kBits, 0, 0, 0) == 0 ? 0 : errno;
}

/// The raw calls: glibc's wrappers signal threads that a forked child does not have.
int change_ids(uid_t uid, gid_t gid) noexcept {
  const bool changes = ::getuid() != uid || ::getgid() != gid;
  // In a user namespace of an ordinary user setgroups is off; its own groups are its own then.
  if (::syscall(SYS_setgroups, 0, nullptr) != 0 && (errno != EPERM || changes)) return errno;
  if (::syscall(SYS_setresgid, gid, gid, gid) != 0) return errno;
  return ::syscall(SYS_setresuid, uid, uid, uid) == 0 ? 0 : errno;
}

}  // namespace

int apply_resource_limits(const SandboxProfile& profile, std::uint64_t cpu_seconds) noexcept {
  const PolicyLimits& limits = profile.limits;
  for (const ResourceLimit& limit : resource_limits(limits))
    if (const int error = lower(limit.resource, limit.most, limit.most)) return error;
  if (cpu_seconds > 0) {
    // SIGXCPU first: if both are equal the kernel sends SIGKILL, which does not show the reason.
    if (const int error = lower(RLIMIT_CPU, cpu_seconds, cpu_seconds + kCpuGrace)) return error;
  }
  if (!profile.counts_own_tasks || limits.processes <= 0) return 0;
  const auto tasks = static_cast<rlim_t>(most_tasks(limits));
  return lower(RLIMIT_NPROC, tasks, tasks);
}

std::uint64_t cpu_seconds(const SandboxProfile& profile, std::chrono::milliseconds timeout) {
  cpu_set_t usable;
  const int count = ::sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 1;
  const auto longest =
      std::chrono::ceil<std::chrono::seconds>(std::max(timeout, profile.limits.command_timeout));
  return static_cast<std::uint64_t>(longest.count()) * static_cast<std::uint64_t>(count);
}

int close_capability_sets() noexcept {
  Capabilities now;
  if (!now.read()) return errno;
  return now.has(CAP_SETPCAP) ? close_sets() : 0;
}

int drop_privileges(uid_t uid, gid_t gid) noexcept {
  Capabilities now;
  if (!now.read()) return errno;
  if (now.has(CAP_SETPCAP)) {
    if (const int error = close_sets()) return error;
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);  // before Linux 4.3: no such set
  if (const int error = change_ids(uid, gid)) return error;
  Capabilities none;
  if (!none.write() || !now.read()) return errno;
  return now.is_empty() ? 0 : EPERM;
}

}  // namespace sortie
