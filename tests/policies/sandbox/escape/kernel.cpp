#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "core/base/fd.h"
#include "tests/policies/sandbox/escape/attempts.h"

namespace sortie::escape {
namespace {

/// In a child of its own, so that what it changes of itself ends with it. A child that is killed
/// did not get through.
int in_child(int (*body)()) {
  const pid_t child = ::fork();
  if (child < 0) return errno;
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

int call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) {
  const long result = ::syscall(number, a, b, c, d, e);
  return outcome(result);
}

int opened(long result) {
  const Fd descriptor(static_cast<int>(result));
  return outcome(descriptor.get());
}

int unshare_user(const Ground&) {
  return in_child([] { return outcome(::unshare(CLONE_NEWUSER)); });
}

int unshare_mounts(const Ground&) {
  return in_child([] { return outcome(::unshare(CLONE_NEWNS)); });
}

int clone_user(const Ground&) {
  const long child = ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) ::_exit(0);
  if (child < 0) return errno;
  ::waitpid(static_cast<pid_t>(child), nullptr, 0);
  return 0;
}

int clone3_user(const Ground&) {
  std::uint64_t arguments[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
  const long child = ::syscall(SYS_clone3, arguments, sizeof arguments);
  if (child == 0) ::_exit(0);
  if (child < 0) return errno;
  ::waitpid(static_cast<pid_t>(child), nullptr, 0);
  return 0;
}

int enter_namespace(const Ground&) {
  return in_child([] {
    const Fd own(::open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC));
    return own ? outcome(::setns(own.get(), CLONE_NEWUTS)) : errno;
  });
}

/// In a mount namespace of its own where that can be had, so that nothing outside changes.
int mount_over(const Ground& ground) {
  static std::string place;
  place = ground.workspace;
  return in_child([] {
    ::unshare(CLONE_NEWNS);
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    return outcome(::mount("none", place.c_str(), "tmpfs", 0, nullptr));
  });
}

int change_root(const Ground&) {
  return in_child([] { return outcome(::chroot("/usr")); });
}

int open_tree(const Ground&) {
  return opened(::syscall(SYS_open_tree, AT_FDCWD, "/usr", 1 /* OPEN_TREE_CLONE */));
}

int open_file_system(const Ground&) { return opened(::syscall(SYS_fsopen, "tmpfs", 0)); }

int load_bpf(const Ground&) {
  bpf_attr attributes;
  std::memset(&attributes, 0, sizeof attributes);
  attributes.map_type = BPF_MAP_TYPE_ARRAY;
  attributes.key_size = attributes.value_size = 4;
  attributes.max_entries = 1;
  return opened(::syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes));
}

int make_ring(const Ground&) {
  unsigned char parameters[120] = {};
  return opened(::syscall(SYS_io_uring_setup, 2, parameters));
}

int watch_faults(const Ground&) {
  return opened(::syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */));
}

int count_events(const Ground&) {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  return opened(::syscall(SYS_perf_event_open, &attributes, -1, 0, -1, 0UL));
}

int ask_keyring(const Ground&) { return call(SYS_keyctl, 0, -3, 1); }
int read_kernel_log(const Ground&) { return outcome(::klogctl(10, nullptr, 0)); }
int host_name(const Ground&) {
  return in_child([] {
    ::unshare(CLONE_NEWUTS);
    return outcome(::sethostname("loot", 4));
  });
}

int push_input(long request) {
  ::signal(SIGHUP, SIG_IGN);  // comes when the terminal is closed below
  ::setsid();
  const Fd terminal(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal || ::grantpt(terminal.get()) != 0 || ::unlockpt(terminal.get()) != 0) return errno;
  const Fd other(::ioctl(terminal.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!other || ::ioctl(other.get(), TIOCSCTTY, 0) != 0) return errno;
  char letter = 'x';
  return outcome(::syscall(SYS_ioctl, other.get(), request, &letter));
}

int type_for_the_user(const Ground&) {
  return in_child([] { return push_input(TIOCSTI); });
}

int type_with_high_bits(const Ground&) {
  return in_child([] { return push_input((1L << 32) | TIOCSTI); });
}

#ifdef __x86_64__
int old_system_call(const Ground&) {
  return in_child([] {
    long result = 20;  // getpid in the i386 table
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    return result > 0 ? 0 : static_cast<int>(-result);
  });
}

int x32_system_call(const Ground&) {
  return in_child([] {
    const long result = ::syscall(0x40000000 | SYS_getpid);
    // A kernel without x32 answers ENOSYS; the filter kills before that.
    return result < 0 && errno != ENOSYS ? errno : 0;
  });
}
#endif

bool has_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2]{};
  ::syscall(SYS_capget, &header, sets);
  return (sets[0].permitted | sets[1].permitted) != 0;
}

int become_root(const Ground&) {
  return in_child([] {
    const int error = outcome(::syscall(SYS_setresuid, 0, 0, 0));
    return error != 0 ? error : has_capabilities() ? 0 : EPERM;
  });
}

}  // namespace

const std::vector<Attempt>& kernel_attempts() {
  static const std::vector<Attempt> list = {
      {"unshare_user", Control::owner, Scope::always, unshare_user},
      {"unshare_mounts", Control::root, Scope::always, unshare_mounts},
      {"clone_user", Control::owner, Scope::always, clone_user},
      {"clone3_user", Control::owner, Scope::always, clone3_user},
      {"enter_namespace", Control::root, Scope::always, enter_namespace},
      {"mount_over", Control::root, Scope::always, mount_over},
      {"change_root", Control::root, Scope::always, change_root},
      {"open_tree", Control::root, Scope::always, open_tree},
      {"open_file_system", Control::root, Scope::always, open_file_system},
      {"load_bpf", Control::root, Scope::always, load_bpf},
      {"make_ring", Control::owner, Scope::always, make_ring},
      {"watch_faults", Control::owner, Scope::always, watch_faults},
      {"count_events", Control::root, Scope::always, count_events},
      {"ask_keyring", Control::owner, Scope::always, ask_keyring},
      {"read_kernel_log", Control::root, Scope::always, read_kernel_log},
      {"host_name", Control::root, Scope::always, host_name},
      {"type_for_the_user", Control::owner, Scope::always, type_for_the_user},
      {"type_with_high_bits", Control::owner, Scope::always, type_with_high_bits},
#ifdef __x86_64__
      {"old_system_call", Control::owner, Scope::always, old_system_call},
      {"x32_system_call", Control::owner, Scope::always, x32_system_call},
#endif
      {"become_root", Control::root, Scope::always, become_root},
  };
  return list;
}

}  // namespace sortie::escape
