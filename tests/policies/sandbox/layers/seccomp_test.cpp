// The system call filter, call by call: raw calls in a child that has it, and what they answer.
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <functional>

#include "policies/sandbox/layers/layers.h"

namespace sortie::test {
namespace {

constexpr int kKilled = 1000;  ///< by SIGSYS
constexpr int kWorked = 0;

/// Runs a raw call behind the filter of a profile. @return 0, its errno, or kKilled
int answer(const SeccompFilter& filter, const std::function<long()>& call) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || filter.apply() != 0) ::_exit(255);
    errno = 0;
    const long result = call();
    // A raw clone(2) that works has two ends; both come by here.
    ::_exit(result < 0 ? errno : 0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGSYS ? kKilled : 2000 + WTERMSIG(status);
  return WEXITSTATUS(status);
}

SandboxProfile profile_of(bool namespaces, NetworkMode network = NetworkMode::none) {
  SandboxProfile profile;
  profile.use_namespaces = namespaces;
  profile.network = network;
  return profile;
}

/// A call with arguments that do nothing where it is not refused: empty, invalid or missing.
struct Refused {
  const char* name;
  long number;
  long arguments[5] = {};
};

constexpr long kHighBit = 1L << 32;  // above an int: the kernel does not look at it

constexpr Refused kRefused[] = {
    {"mount", SYS_mount},
    {"umount2", SYS_umount2},
    {"pivot_root", SYS_pivot_root},
    {"chroot", SYS_chroot},
    {"open_tree", SYS_open_tree, {-1}},
    {"move_mount", SYS_move_mount, {-1}},
    {"fsopen", SYS_fsopen},
    {"fsconfig", SYS_fsconfig, {-1}},
    {"fsmount", SYS_fsmount, {-1}},
    {"fspick", SYS_fspick, {-1}},
    {"mount_setattr", SYS_mount_setattr, {-1}},
    {"setns", SYS_setns, {-1}},
    {"unshare user", SYS_unshare, {CLONE_NEWUSER}},
    {"unshare mount", SYS_unshare, {CLONE_NEWNS}},
    {"unshare network", SYS_unshare, {CLONE_NEWNET}},
    {"unshare time", SYS_unshare, {0x80}},
    {"unshare of the network, high bits set", SYS_unshare, {CLONE_NEWNET | kHighBit}},
    {"clone user", SYS_clone, {CLONE_NEWUSER | SIGCHLD}},
    {"clone mount", SYS_clone, {CLONE_NEWNS | SIGCHLD}},
    {"clone pid", SYS_clone, {CLONE_NEWPID | SIGCHLD}},
    {"clone network", SYS_clone, {CLONE_NEWNET | SIGCHLD}},
    {"clone ipc", SYS_clone, {CLONE_NEWIPC | SIGCHLD}},
    {"clone uts", SYS_clone, {CLONE_NEWUTS | SIGCHLD}},
    {"clone cgroup", SYS_clone, {CLONE_NEWCGROUP | SIGCHLD}},
    {"ptrace", SYS_ptrace, {PTRACE_TRACEME}},
    {"process_vm_readv", SYS_process_vm_readv, {1}},
    {"process_vm_writev", SYS_process_vm_writev, {1}},
    {"kcmp", SYS_kcmp, {1, 1}},
    {"pidfd_getfd", SYS_pidfd_getfd, {-1}},
    {"bpf", SYS_bpf},
    {"io_uring_setup", SYS_io_uring_setup},
    {"io_uring_enter", SYS_io_uring_enter, {-1}},
    {"io_uring_register", SYS_io_uring_register, {-1}},
    {"userfaultfd", SYS_userfaultfd},
    {"perf_event_open", SYS_perf_event_open},
    {"keyctl", SYS_keyctl, {0, -3}},
    {"add_key", SYS_add_key},
    {"request_key", SYS_request_key},
    {"kexec_load", SYS_kexec_load},
    {"kexec_file_load", SYS_kexec_file_load, {-1, -1}},
    {"init_module", SYS_init_module},
    {"finit_module", SYS_finit_module, {-1}},
    {"delete_module", SYS_delete_module},
    {"open_by_handle_at", SYS_open_by_handle_at, {-1}},
    {"syslog", SYS_syslog, {10}},
    {"quotactl", SYS_quotactl},
    {"acct", SYS_acct, {1}},
    {"swapon", SYS_swapon},
    {"swapoff", SYS_swapoff},
    {"reboot", SYS_reboot},
    {"TIOCSTI", SYS_ioctl, {0, TIOCSTI}},
    {"TIOCSTI, high bits set", SYS_ioctl, {0, TIOCSTI | kHighBit}},
    {"TIOCLINUX", SYS_ioctl, {0, TIOCLINUX}},
    {"socketpair but AF_UNIX", SYS_socketpair, {AF_INET, SOCK_STREAM}},
};

BOOST_AUTO_TEST_SUITE(seccomp)

BOOST_AUTO_TEST_CASE(every_call_of_the_list_is_refused_in_every_mode) {
  for (const bool namespaces : {true, false}) {
    for (const NetworkMode network : {NetworkMode::none, NetworkMode::full}) {
      const SeccompFilter filter(profile_of(namespaces, network));
      for (const Refused& row : kRefused) {
        const auto& a = row.arguments;
        const int got =
            answer(filter, [&] { return ::syscall(row.number, a[0], a[1], a[2], a[3], a[4]); });
        const bool refused = got == EPERM || (row.number == SYS_socketpair && got == EAFNOSUPPORT);
        BOOST_TEST(refused, row.name << " answers " << got);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_policy_may_let_commands_trace_what_they_start_and_nothing_more) {
  for (const bool namespaces : {true, false}) {
    SandboxProfile profile = profile_of(namespaces);
    profile.tracing = Tracing::own;
    const SeccompFilter filter(profile);
    for (const Refused& row : kRefused) {
      const auto& a = row.arguments;
      const int got =
          answer(filter, [&] { return ::syscall(row.number, a[0], a[1], a[2], a[3], a[4]); });
      const bool traces = row.number == SYS_ptrace || row.number == SYS_process_vm_readv ||
                          row.number == SYS_process_vm_writev;
      const bool refused = got == EPERM || (row.number == SYS_socketpair && got == EAFNOSUPPORT);
      if (!traces) BOOST_TEST(refused, row.name << " answers " << got);
    }
    BOOST_TEST(answer(filter, [] {
                 return ::syscall(SYS_ptrace, PTRACE_TRACEME, 0, nullptr, nullptr);
               }) == kWorked);
  }
}

BOOST_AUTO_TEST_CASE(without_namespaces_nobody_signals_all_of_the_users_processes) {
  const SeccompFilter filter(profile_of(false));

  BOOST_TEST(answer(filter, [] { return ::syscall(SYS_kill, -1, 0); }) == EPERM);
  BOOST_TEST(answer(filter, [] { return ::syscall(SYS_kill, 0xffffffffL, 0); }) == EPERM);
  // Itself, and its group, which a shell ends so.
  BOOST_TEST(answer(filter, [] { return ::syscall(SYS_kill, ::getpid(), 0); }) == kWorked);
  BOOST_TEST(answer(filter, [] { return ::syscall(SYS_kill, 0, 0); }) == kWorked);
  BOOST_TEST(answer(SeccompFilter(profile_of(true)), [] { return ::syscall(SYS_kill, -1, 0); }) ==
             kWorked);
}

BOOST_AUTO_TEST_CASE(clone3_is_not_there_so_that_programs_take_clone) {
  const SeccompFilter filter(profile_of(true));

  BOOST_TEST(answer(filter, [] { return ::syscall(SYS_clone3, nullptr, 0); }) == ENOSYS);
  BOOST_TEST(answer(filter, [] {
               const pid_t child = ::fork();
               if (child == 0) ::_exit(0);
               return static_cast<long>(::waitpid(child, nullptr, 0));
             }) == kWorked);
}

#ifdef __x86_64__
long call_of_i386() {
  long result = 20;  // getpid in the i386 table
  __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
  return result;
}

/// What such a call comes to: some machines have no 32-bit calls, and no filter is asked there.
int fate_of_i386() {
  const pid_t child = ::fork();
  if (child == 0) {
    call_of_i386();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 2000 + WTERMSIG(status) : kKilled;
}

BOOST_AUTO_TEST_CASE(calls_of_other_architectures_are_killed) {
  const int fate = fate_of_i386();
  for (const bool namespaces : {true, false}) {
    const SeccompFilter filter(profile_of(namespaces));

    const int x32 = answer(filter, [] { return ::syscall(0x40000000 | SYS_getpid); });
    const int i386 = answer(filter, call_of_i386);

    BOOST_TEST(x32 == kKilled);
    BOOST_TEST(i386 == fate);
  }
}
#endif

BOOST_AUTO_TEST_CASE(socket_families_by_mode) {
  const struct {
    const char* name;
    int family;
    int type;
    int protocol;
    int isolated;  ///< network none, in namespaces
    int bare;      ///< network none, without namespaces
    int open;      ///< network full, without namespaces
  } rows[] = {
      {"unix stream", AF_UNIX, SOCK_STREAM, 0, kWorked, EPERM, EPERM},
      {"unix datagram", AF_UNIX, SOCK_DGRAM, 0, kWorked, EPERM, EPERM},
      {"TCP", AF_INET, SOCK_STREAM, 0, kWorked, EPERM, kWorked},
      {"UDP", AF_INET, SOCK_DGRAM, 0, kWorked, EPERM, kWorked},
      {"TCP over IPv6", AF_INET6, SOCK_STREAM, 0, kWorked, EPERM, kWorked},
      {"raw", AF_INET, SOCK_RAW, 1, EPERM, EPERM, EPERM},
      {"raw over IPv6", AF_INET6, SOCK_RAW, 58, EPERM, EPERM, EPERM},
      {"sequenced packets", AF_INET, SOCK_SEQPACKET, 132, EPERM, EPERM, EPERM},
      {"routes", AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, kWorked, EAFNOSUPPORT, kWorked},
      {"generic netlink", AF_NETLINK, SOCK_RAW, NETLINK_GENERIC, EAFNOSUPPORT, EAFNOSUPPORT,
       EAFNOSUPPORT},
      {"netfilter", AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER, EAFNOSUPPORT, EAFNOSUPPORT,
       EAFNOSUPPORT},
      {"packet", AF_PACKET, SOCK_RAW, 0, EAFNOSUPPORT, EAFNOSUPPORT, EAFNOSUPPORT},
      {"vsock", AF_VSOCK, SOCK_STREAM, 0, EAFNOSUPPORT, EAFNOSUPPORT, EAFNOSUPPORT},
      {"crypto", AF_ALG, SOCK_SEQPACKET, 0, EAFNOSUPPORT, EAFNOSUPPORT, EAFNOSUPPORT},
      {"bluetooth", AF_BLUETOOTH, SOCK_RAW, 0, EAFNOSUPPORT, EAFNOSUPPORT, EAFNOSUPPORT},
      {"xdp", AF_XDP, SOCK_RAW, 0, EAFNOSUPPORT, EAFNOSUPPORT, EAFNOSUPPORT},
  };
  const SeccompFilter isolated(profile_of(true));
  const SeccompFilter bare(profile_of(false));
  const SeccompFilter open(profile_of(false, NetworkMode::full));
  for (const auto& row : rows) {
    const auto make = [&] { return ::syscall(SYS_socket, row.family, row.type, row.protocol); };
    BOOST_TEST(answer(isolated, make) == row.isolated, row.name << ", isolated");
    BOOST_TEST(answer(bare, make) == row.bare, row.name << ", bare");
    BOOST_TEST(answer(open, make) == row.open, row.name << ", open");
  }
  for (const SeccompFilter* filter : {&isolated, &bare, &open}) {
    BOOST_TEST(answer(*filter, [] {
                 int ends[2];
                 return static_cast<long>(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
               }) == kWorked);
    for (int family = AF_NETLINK + 1; family < 64; ++family) {
      BOOST_TEST(answer(*filter, [&] { return ::syscall(SYS_socket, family, SOCK_DGRAM, 0); }) ==
                     EAFNOSUPPORT,
                 "family " << family);
    }
    BOOST_TEST(answer(*filter, [] {
                 return ::syscall(SYS_socket, AF_PACKET | kHighBit, SOCK_RAW, 0);
               }) == EAFNOSUPPORT);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test
