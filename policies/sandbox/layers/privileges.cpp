#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "policies/sandbox/layers/layers.h"

namespace sortie {
namespace {

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

// uid 0 gets nothing for being 0, at exec(2) neither, and no process can lift that.
constexpr unsigned long kBits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                                SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

/// What only CAP_SETPCAP can do; a process without it has nothing to lose in these sets, since
/// no_new_privs holds at its exec.
int close_sets() noexcept {
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
