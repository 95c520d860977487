#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "policies/sandbox/layers/layers.h"

namespace sortie {
namespace {

// Calls that are newer than Debian 12's headers; the numbers are the same on all architectures.
constexpr int kFchmodat2 = 452;
constexpr int kOpenTreeAttr = 467;
// Only unshare(2) and clone3(2) know it; in clone(2) the bit belongs to the exit signal.
constexpr scmp_datum_t kCloneNewTime = 0x80;
// Leaves a device, the overlay's mark for a removed file, in place of the file.
constexpr scmp_datum_t kRenameWhiteout = 4;
constexpr scmp_datum_t kIoprioWhoProcess = 1;
// int arguments: the kernel reads only the low half of the register.
constexpr scmp_datum_t kLow = 0xffffffff;

constexpr int kRefused[] = {
    // mounts and namespaces
    SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(open_tree),
    SCMP_SYS(move_mount), SCMP_SYS(fsopen), SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick),
    SCMP_SYS(mount_setattr), SCMP_SYS(setns), kOpenTreeAttr,
    // other processes
    SCMP_SYS(kcmp), SCMP_SYS(pidfd_getfd),
    // large or new parts of the kernel
    SCMP_SYS(bpf), SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register),
    SCMP_SYS(userfaultfd), SCMP_SYS(perf_event_open), SCMP_SYS(add_key), SCMP_SYS(keyctl),
    SCMP_SYS(request_key), SCMP_SYS(open_by_handle_at),
    // the machine
    SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load), SCMP_SYS(init_module), SCMP_SYS(finit_module),
    SCMP_SYS(delete_module), SCMP_SYS(syslog), SCMP_SYS(quotactl), SCMP_SYS(quotactl_fd),
    SCMP_SYS(acct), SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(reboot), SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime), SCMP_SYS(clock_adjtime), SCMP_SYS(adjtimex), SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname), SCMP_SYS(vhangup), SCMP_SYS(iopl), SCMP_SYS(ioperm),
    SCMP_SYS(modify_ldt), SCMP_SYS(lookup_dcookie), SCMP_SYS(nfsservctl)};

constexpr int kTracing[] = {SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv),
                            SCMP_SYS(process_vm_writev)};

constexpr scmp_datum_t kNamespaces[] = {CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                        CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};

/// A libseccomp filter while it is being made.
class Rules {
 public:
  Rules() : context_(seccomp_init(SCMP_ACT_ALLOW), seccomp_release) {
    if (!context_) throw Error("seccomp: no memory for the filter", ExitCode::environment);
    check(seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
    check(seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2));  // a tree, not a list
  }

  template <typename... Compare>
  void refuse(int error, int call, Compare... compare) {
    const std::array<scmp_arg_cmp, sizeof...(compare)> comparisons{compare...};
    check(seccomp_rule_add_array(context_.get(), SCMP_ACT_ERRNO(static_cast<unsigned>(error)), call,
                                 sizeof...(compare), comparisons.data()));
  }

  void notify(int call) {
    const int result = seccomp_rule_add_array(context_.get(), SCMP_ACT_NOTIFY, call, 0, nullptr);
    if (result != 0)  // a call without notification would be allowed
      throw Error("seccomp user notification: " + errno_text(-result), ExitCode::environment);
  }

  std::string program() const;

 private:
  static void check(int result) {
    // A call that does not exist on this architecture (iopl on ARM) can't be made on it either.
    if (result == 0 || result == -EDOM || result == -EEXIST) return;
    throw Error("seccomp: " + errno_text(-result), ExitCode::environment);
  }

  std::unique_ptr<void, void (*)(scmp_filter_ctx)> context_;
};

std::string Rules::program() const {
  const Fd file(::memfd_create("seccomp", MFD_CLOEXEC));
  if (!file) throw system_error("memfd_create", ExitCode::environment);
  check(seccomp_export_bpf(context_.get(), file.get()));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw system_error("seccomp", ExitCode::environment);
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  if (::pread(file.get(), bytes.data(), bytes.size(), 0) != status.st_size)
    throw system_error("seccomp", ExitCode::environment);
  return bytes;
}

scmp_arg_cmp low_equals(unsigned argument, scmp_datum_t value) {
  return SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, kLow, value);
}

scmp_arg_cmp has_bit(unsigned argument, scmp_datum_t bit) {
  return SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, bit, bit);
}

scmp_arg_cmp type_equals(unsigned argument, scmp_datum_t mask, scmp_datum_t value) {
  return SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, mask, value);
}

void refuse_namespaces(Rules& rules) {
  for (const scmp_datum_t flag : kNamespaces) {
    rules.refuse(EPERM, SCMP_SYS(clone), has_bit(0, flag));
    rules.refuse(EPERM, SCMP_SYS(unshare), has_bit(0, flag));
  }
  rules.refuse(EPERM, SCMP_SYS(unshare), has_bit(0, kCloneNewTime));
  // Its flags are in memory, which no filter can read; every libc falls back to clone.
  rules.refuse(ENOSYS, SCMP_SYS(clone3));
}

void refuse_terminal_input(Rules& rules) {
  for (const scmp_datum_t request : {TIOCSTI, TIOCLINUX, TIOCSETD})
    rules.refuse(EPERM, SCMP_SYS(ioctl), low_equals(1, request));
}

/// A set-id file would outlive the sandbox and give its owner's rights to everyone who runs it.
void refuse_special_modes(Rules& rules) {
  for (const scmp_datum_t bit : {S_ISUID, S_ISGID}) {
    rules.refuse(EPERM, SCMP_SYS(chmod), has_bit(1, bit));
    rules.refuse(EPERM, SCMP_SYS(fchmod), has_bit(1, bit));
    rules.refuse(EPERM, SCMP_SYS(fchmodat), has_bit(2, bit));
    rules.refuse(EPERM, kFchmodat2, has_bit(2, bit));
    rules.refuse(EPERM, SCMP_SYS(creat), has_bit(1, bit));
    rules.refuse(EPERM, SCMP_SYS(mknod), has_bit(1, bit));
    rules.refuse(EPERM, SCMP_SYS(mknodat), has_bit(2, bit));
    // Without one of these flags the mode argument is undefined.
    for (const scmp_datum_t makes : {O_CREAT, O_TMPFILE & ~O_DIRECTORY}) {
      rules.refuse(EPERM, SCMP_SYS(open), has_bit(1, makes), has_bit(2, bit));
      rules.refuse(EPERM, SCMP_SYS(openat), has_bit(2, makes), has_bit(3, bit));
    }
  }
  for (const scmp_datum_t kind : {S_IFCHR, S_IFBLK}) {
    rules.refuse(EPERM, SCMP_SYS(mknod), type_equals(1, S_IFMT, kind));
    rules.refuse(EPERM, SCMP_SYS(mknodat), type_equals(2, S_IFMT, kind));
  }
  rules.refuse(EPERM, SCMP_SYS(renameat2), has_bit(4, kRenameWhiteout));
  // Its mode is in memory; programs that try it fall back to openat.
  rules.refuse(ENOSYS, SCMP_SYS(openat2));
}

/// Whether the filter may leave tracing to other layers, which allow the command's own processes
/// alone: no other has an id in its PID namespace but its first process, which is not dumpable; and
/// Landlock lets a process trace only those of its own domain, of which each command has another.
/// A traced process stays behind its filter and no_new_privs.
bool is_tracing_bounded(const SandboxProfile& profile) {
  return profile.tracing == Tracing::own &&
         (profile.use_namespaces || LandlockRules::kernel_abi() >= 1);
}

/// Without namespaces a command sees the same user's other processes, including sortie: it could
/// kill them by a limit on their CPU time, or starve them. Only calls on the caller itself (0) are
/// allowed. Shared memory and queues that are found by number are refused too, since all processes
/// share them.
void refuse_neighbours(Rules& rules) {
  const auto other = [](unsigned argument) { return SCMP_CMP(argument, SCMP_CMP_NE, 0); };
  for (const int call : {SCMP_SYS(prlimit64), SCMP_SYS(sched_setaffinity),
                         SCMP_SYS(sched_setscheduler), SCMP_SYS(sched_setparam),
                         SCMP_SYS(sched_setattr), SCMP_SYS(migrate_pages), SCMP_SYS(move_pages)})
    rules.refuse(EPERM, call, other(0));
  rules.refuse(EPERM, SCMP_SYS(setpriority), SCMP_CMP(0, SCMP_CMP_NE, PRIO_PROCESS));
  rules.refuse(EPERM, SCMP_SYS(setpriority), other(1));
  rules.refuse(EPERM, SCMP_SYS(ioprio_set), SCMP_CMP(0, SCMP_CMP_NE, kIoprioWhoProcess));
  rules.refuse(EPERM, SCMP_SYS(ioprio_set), other(1));
  // -1 means all processes of the user, or of the machine for root. From Landlock's ABI 6 on it
  // would be only the command's own.
  rules.refuse(EPERM, SCMP_SYS(kill), low_equals(0, kLow));
  for (const int call :
       {SCMP_SYS(process_madvise), SCMP_SYS(process_mrelease), SCMP_SYS(shmget), SCMP_SYS(shmat),
        SCMP_SYS(shmctl), SCMP_SYS(msgget), SCMP_SYS(msgsnd), SCMP_SYS(msgrcv), SCMP_SYS(msgctl),
        SCMP_SYS(semget), SCMP_SYS(semop), SCMP_SYS(semtimedop), SCMP_SYS(semctl),
        SCMP_SYS(mq_open), SCMP_SYS(mq_unlink)})
    rules.refuse(EPERM, call);
}

/// Reserved blocks use the disk without being written, so they are not in any count of written
/// bytes. Programs fall back to writing zeros (posix_fallocate(3)); punching holes is allowed.
void refuse_reserving(Rules& rules) {
  rules.refuse(EOPNOTSUPP, SCMP_SYS(fallocate), low_equals(1, 0));
  for (const scmp_datum_t mode :
       {FALLOC_FL_KEEP_SIZE, FALLOC_FL_ZERO_RANGE, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
        FALLOC_FL_UNSHARE_RANGE, FALLOC_FL_UNSHARE_RANGE | FALLOC_FL_KEEP_SIZE})
    rules.refuse(EOPNOTSUPP, SCMP_SYS(fallocate), low_equals(1, mode));
}

void refuse_family(Rules& rules, scmp_datum_t family, int error) {
  rules.refuse(error, SCMP_SYS(socket), SCMP_CMP(0, SCMP_CMP_EQ, family));
}

void refuse_raw(Rules& rules, scmp_datum_t family) {
  for (scmp_datum_t type = 0; type < 16; ++type) {
    if (type == SOCK_STREAM || type == SOCK_DGRAM) continue;
    rules.refuse(EPERM, SCMP_SYS(socket), SCMP_CMP(0, SCMP_CMP_EQ, family),
                 type_equals(1, 0xf, type));
  }
}

/// Allows TCP clients only, with each connect(2) answered by the gate. Ways to reach an address
/// without that call are refused: datagrams, other stream protocols, fast open. So is listening:
/// without a network namespace a port is open to the whole host.
void gate_connections(Rules& rules) {
  for (const scmp_datum_t family : {AF_INET, AF_INET6}) {
    const auto of_family = SCMP_CMP(0, SCMP_CMP_EQ, family);
    for (scmp_datum_t type = 0; type < 16; ++type) {
      if (type != SOCK_STREAM)
        rules.refuse(EPERM, SCMP_SYS(socket), of_family, type_equals(1, 0xf, type));
    }
    for (scmp_datum_t protocol = 1; protocol < IPPROTO_TCP; ++protocol)
      rules.refuse(EPROTONOSUPPORT, SCMP_SYS(socket), of_family,
                   SCMP_CMP(2, SCMP_CMP_EQ, protocol));
    rules.refuse(EPROTONOSUPPORT, SCMP_SYS(socket), of_family,
                 SCMP_CMP(2, SCMP_CMP_GT, IPPROTO_TCP));
  }
  rules.notify(SCMP_SYS(connect));
  for (const int call : {SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(accept), SCMP_SYS(accept4)})
    rules.refuse(EPERM, call);
  rules.refuse(EPERM, SCMP_SYS(sendto), SCMP_CMP(4, SCMP_CMP_NE, 0));
  rules.refuse(EPERM, SCMP_SYS(sendto), has_bit(3, MSG_FASTOPEN));
  rules.refuse(EPERM, SCMP_SYS(sendmsg), has_bit(2, MSG_FASTOPEN));
  rules.refuse(EPERM, SCMP_SYS(sendmmsg), has_bit(3, MSG_FASTOPEN));
}

/// Families are compared over the whole register: one with bits in its upper half, which the
/// kernel would cut off, is past the last allowed family and refused.
void refuse_sockets(Rules& rules, const SandboxProfile& profile) {
  const bool inet = profile.use_namespaces || profile.network == NetworkMode::full;
  // Without a mount namespace every socket file of the machine is in reach, and without a network
  // namespace every abstract one, unless Landlock (ABI 6) keeps them apart.
  const bool local = profile.use_namespaces &&
                     (profile.network != NetworkMode::full || LandlockRules::kernel_abi() >= 6);
  for (scmp_datum_t family = 0; family <= AF_NETLINK; ++family) {
    if (family == AF_INET || family == AF_INET6) {
      if (has_connect_gate(profile)) continue;
      inet ? refuse_raw(rules, family) : refuse_family(rules, family, EPERM);
    } else if (family == AF_UNIX) {
      if (!local) refuse_family(rules, family, EPERM);
    } else if (family != AF_NETLINK || !inet) {
      refuse_family(rules, family, EAFNOSUPPORT);
    }
  }
  rules.refuse(EAFNOSUPPORT, SCMP_SYS(socket), SCMP_CMP(0, SCMP_CMP_GT, AF_NETLINK));
  if (inet) {
    rules.refuse(EAFNOSUPPORT, SCMP_SYS(socket), SCMP_CMP(0, SCMP_CMP_EQ, AF_NETLINK),
                 SCMP_CMP(2, SCMP_CMP_NE, 0 /* NETLINK_ROUTE */));
  }
  rules.refuse(EAFNOSUPPORT, SCMP_SYS(socketpair), SCMP_CMP(0, SCMP_CMP_NE, AF_UNIX));
  // A datagram pair can send or connect to any socket file by name (unix(7)).
  if (!local) rules.refuse(EPERM, SCMP_SYS(socketpair), type_equals(1, 0xf, SOCK_DGRAM));
  if (!local) rules.refuse(EPERM, SCMP_SYS(socketpair), type_equals(1, 0xf, SOCK_RAW));
}

}  // namespace

SeccompFilter::SeccompFilter(const SandboxProfile& profile) {
  if (profile.mode == SandboxMode::none) return;
  Rules rules;
  for (const int call : kRefused) rules.refuse(EPERM, call);
  if (!is_tracing_bounded(profile))
    for (const int call : kTracing) rules.refuse(EPERM, call);
  refuse_namespaces(rules);
  refuse_terminal_input(rules);
  refuse_special_modes(rules);
  refuse_reserving(rules);
  if (!profile.use_namespaces) refuse_neighbours(rules);
  refuse_sockets(rules, profile);
  notifies_ = has_connect_gate(profile);
  if (notifies_) gate_connections(rules);
  program_ = rules.program();
}

SeccompFilter::SeccompFilter(const SandboxProfile& profile, std::string_view program)
    : program_(program), notifies_(has_connect_gate(profile)) {}

int SeccompFilter::apply(int* listener) const noexcept {
  if (program_.empty()) return 0;
  // The kernel only reads the program; its structure has no const.
  auto* const instructions = const_cast<char*>(program_.data());
  const sock_fprog program{static_cast<unsigned short>(program_.size() / sizeof(sock_filter)),
                           reinterpret_cast<sock_filter*>(instructions)};
  if (!notifies_ || listener == nullptr)
    return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0 ? 0 : errno;
  // From Linux 5.19 on a signal that does not kill waits until the call is answered.
  for (const unsigned long wait : {SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, 0ul}) {
    const long result = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                  SECCOMP_FILTER_FLAG_NEW_LISTENER | wait, &program);
    if (result >= 0) {
      *listener = static_cast<int>(result);
      return 0;
    }
    if (errno != EINVAL) break;
  }
  return errno;
}

}  // namespace sortie
