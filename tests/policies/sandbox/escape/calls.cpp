// System calls that no command has a use for, with arguments that change nothing: an error which
// the kernel can only give once it has let the caller in counts as got through.
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "core/base/fd.h"
#include "tests/policies/sandbox/escape/attempts.h"

namespace sortie::escape {
namespace {

/// 0 where the call did it, or answers with one of these errors.
int let_in(long result, std::initializer_list<int> errors) {
  const int error = outcome(result);
  return std::find(errors.begin(), errors.end(), error) != errors.end() ? 0 : error;
}

int unshare_by(int flag) {
  return in_own_process([&] { return outcome(::unshare(flag)); });
}

int unshare_processes(const Ground&) { return unshare_by(CLONE_NEWPID); }
int unshare_network(const Ground&) { return unshare_by(CLONE_NEWNET); }
int unshare_ipc(const Ground&) { return unshare_by(CLONE_NEWIPC); }
int unshare_names(const Ground&) { return unshare_by(CLONE_NEWUTS); }
int unshare_groups(const Ground&) { return unshare_by(CLONE_NEWCGROUP); }
int unshare_time(const Ground&) { return unshare_by(0x80 /* CLONE_NEWTIME */); }
int unshare_user_and_all(const Ground&) {
  return unshare_by(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID);
}

int clone_by(unsigned long flag) {
  const long child = ::syscall(SYS_clone, flag | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) ::_exit(0);
  if (child < 0) return errno;
  ::waitpid(static_cast<pid_t>(child), nullptr, 0);
  return 0;
}

int clone_mounts(const Ground&) { return clone_by(CLONE_NEWNS); }
int clone_processes(const Ground&) { return clone_by(CLONE_NEWPID); }
int clone_network(const Ground&) { return clone_by(CLONE_NEWNET); }
/// The kernel looks at the low half of the flags alone.
int clone_with_high_bits(const Ground&) { return clone_by((1UL << 40) | CLONE_NEWUSER); }

int pivot_root(const Ground&) {
  return in_own_process([] {
    return let_in(::syscall(SYS_pivot_root, "/", "/"), {EBUSY, EINVAL});
  });
}

int unmount(const Ground&) {
  return let_in(::syscall(SYS_umount2, "/nowhere", 0), {ENOENT, EINVAL});
}

int move_mount(const Ground&) {
  return let_in(::syscall(SYS_move_mount, -1, "", -1, "", 4), {EBADF, EINVAL});
}

int make_mount(const Ground&) { return let_in(::syscall(SYS_fsmount, -1, 0, 0), {EBADF, EINVAL}); }
int pick_mount(const Ground&) {
  const Fd context(static_cast<int>(::syscall(SYS_fspick, AT_FDCWD, "/", 0)));
  return outcome(context.get());
}

int configure_mount(const Ground&) {
  return let_in(::syscall(SYS_fsconfig, -1, 0, "ro", nullptr, 0), {EBADF, EINVAL});
}

int set_mount(const Ground&) {
  std::uint64_t attributes[4] = {};
  return let_in(::syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, attributes, sizeof attributes),
                {EBADF, EINVAL});
}

int add_key(const Ground&) {
  return outcome(::syscall(SYS_add_key, "user", "sortie-escape", "x", 1L, -3L /* this process */));
}

int request_key(const Ground&) {
  return let_in(::syscall(SYS_request_key, "user", "sortie-none", nullptr, 0L), {ENOKEY});
}

int load_module(const Ground&) {
  return let_in(::syscall(SYS_finit_module, -1, "", 0), {EBADF, EINVAL});
}

int load_module_from_memory(const Ground&) {
  char none[8] = {};
  return let_in(::syscall(SYS_init_module, none, sizeof none, ""), {ENOEXEC, EINVAL});
}

int remove_module(const Ground&) {
  return let_in(::syscall(SYS_delete_module, "sortie_no_such_module", O_NONBLOCK), {ENOENT});
}

int load_kernel(const Ground&) {
  return let_in(::syscall(SYS_kexec_load, 0L, 999L, nullptr, 0L), {EINVAL, EBUSY, EADDRNOTAVAIL});
}

int restart_machine(const Ground&) { return let_in(::syscall(SYS_reboot, 0, 0, 0, 0), {EINVAL}); }
int use_swap(const Ground&) { return let_in(::syscall(SYS_swapon, "/nowhere", 0), {ENOENT}); }
int drop_swap(const Ground&) { return let_in(::syscall(SYS_swapoff, "/nowhere"), {ENOENT}); }
int keep_accounts(const Ground&) { return let_in(::syscall(SYS_acct, "/nowhere"), {ENOENT}); }

int ask_quota(const Ground&) {
  return let_in(::syscall(SYS_quotactl, 0x800002L /* Q_GETQUOTA */ << 8, "/nowhere", 0, nullptr),
                {ENOENT, ENOTBLK, EINVAL});
}

int read_clock_state(const Ground&) {
  timex state{};
  return outcome(::syscall(SYS_adjtimex, &state));
}

int read_clock_state_by_number(const Ground&) {
  timex state{};
  return outcome(::syscall(SYS_clock_adjtime, CLOCK_REALTIME, &state));
}

int set_clock(const Ground&) {
  const timespec never{0, -1};  // the right is asked for before the value is looked at
  return let_in(::syscall(SYS_clock_settime, CLOCK_REALTIME, &never), {EINVAL});
}

int set_domain(const Ground&) {
  return in_own_process([] {
    ::unshare(CLONE_NEWUTS);
    return outcome(::syscall(SYS_setdomainname, "loot", 4L));
  });
}

int hang_up_terminal(const Ground&) {
  return in_own_process([] {
    ::setsid();
    return outcome(::syscall(SYS_vhangup));
  });
}

#ifdef __x86_64__
int use_ports(const Ground&) {
  return in_own_process([] { return outcome(::syscall(SYS_ioperm, 0x80, 1, 1)); });
}

int change_descriptors(const Ground&) {
  char entry[16];
  return outcome(::syscall(SYS_modify_ldt, 0, entry, sizeof entry));
}

int x32_open(const Ground& ground) {
  return in_own_process([&] {
    const std::string path = ground.outside + "/treasure";
    const long result = ::syscall(0x40000000 | SYS_open, path.c_str(), O_RDONLY);
    return result < 0 && errno != ENOSYS ? errno : 0;
  });
}
#endif

int set_line_discipline(const Ground&) {
  return in_own_process([] {
    const Fd terminal(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    int discipline = 0;
    return terminal ? outcome(::ioctl(terminal.get(), TIOCSETD, &discipline)) : errno;
  });
}

int select_on_console(const Ground&) {
  return in_own_process([] {
    const Fd terminal(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    char code = 11;
    return terminal ? let_in(::ioctl(terminal.get(), TIOCLINUX, &code), {ENOTTY}) : errno;
  });
}

int reserve_blocks(const Ground& ground) {
  const std::string path = ground.workspace + "/reserved";
  const Fd file(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  if (!file) return errno;
  const int error = outcome(::syscall(SYS_fallocate, file.get(), 0, 0L, 4096L));
  ::unlink(path.c_str());
  return error;
}

int raise_limit(const Ground&) {
  return in_own_process([] {
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    return outcome(::setrlimit(RLIMIT_CORE, &none));
  });
}

int become_root_group(const Ground&) {
  return in_own_process([] { return outcome(::setgroups(0, nullptr)); });
}

int watch_file_system(const Ground&) {
  const Fd watch(static_cast<int>(::syscall(SYS_fanotify_init, 0u, 0u)));
  return outcome(watch.get());
}

}  // namespace

const std::vector<Attempt>& call_attempts() {
  static const std::vector<Attempt> list = {
      {"unshare_processes", Control::root, Scope::always, unshare_processes},
      {"unshare_network", Control::root, Scope::always, unshare_network},
      {"unshare_ipc", Control::root, Scope::always, unshare_ipc},
      {"unshare_names", Control::root, Scope::always, unshare_names},
      {"unshare_groups", Control::root, Scope::always, unshare_groups},
      {"unshare_time", Control::root, Scope::always, unshare_time},
      {"unshare_user_and_all", Control::owner, Scope::always, unshare_user_and_all},
      {"clone_mounts", Control::root, Scope::always, clone_mounts},
      {"clone_processes", Control::root, Scope::always, clone_processes},
      {"clone_network", Control::root, Scope::always, clone_network},
      {"clone_with_high_bits", Control::owner, Scope::always, clone_with_high_bits},
      {"pivot_root", Control::root, Scope::always, pivot_root},
      {"unmount", Control::root, Scope::always, unmount},
      {"move_mount", Control::root, Scope::always, move_mount},
      {"make_mount", Control::root, Scope::always, make_mount},
      {"pick_mount", Control::root, Scope::always, pick_mount},
      {"configure_mount", Control::root, Scope::always, configure_mount},
      {"set_mount", Control::root, Scope::always, set_mount},
      {"add_key", Control::owner, Scope::always, add_key},
      {"request_key", Control::owner, Scope::always, request_key},
      {"load_module", Control::root, Scope::always, load_module},
      {"load_module_from_memory", Control::root, Scope::always, load_module_from_memory},
      {"remove_module", Control::root, Scope::always, remove_module},
      {"load_kernel", Control::root, Scope::always, load_kernel},
      {"restart_machine", Control::root, Scope::always, restart_machine},
      {"use_swap", Control::root, Scope::always, use_swap},
      {"drop_swap", Control::root, Scope::always, drop_swap},
      {"keep_accounts", Control::root, Scope::always, keep_accounts},
      {"ask_quota", Control::root, Scope::always, ask_quota},
      {"read_clock_state", Control::owner, Scope::always, read_clock_state},
      {"read_clock_state_by_number", Control::owner, Scope::always, read_clock_state_by_number},
      {"set_clock", Control::root, Scope::always, set_clock},
      {"set_domain", Control::root, Scope::always, set_domain},
      {"hang_up_terminal", Control::root, Scope::always, hang_up_terminal},
#ifdef __x86_64__
      {"use_ports", Control::root, Scope::always, use_ports},
      {"change_descriptors", Control::owner, Scope::always, change_descriptors},
      {"x32_open", Control::owner, Scope::always, x32_open},
#endif
      {"set_line_discipline", Control::owner, Scope::always, set_line_discipline},
      {"select_on_console", Control::owner, Scope::always, select_on_console},
      {"reserve_blocks", Control::owner, Scope::always, reserve_blocks},
      {"raise_limit", Control::root, Scope::always, raise_limit},
      {"become_root_group", Control::root, Scope::always, become_root_group},
      {"watch_file_system", Control::root, Scope::always, watch_file_system},
  };
  return list;
}

}  // namespace sortie::escape
