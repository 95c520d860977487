#include "policies/sandbox/keeper/settle.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "policies/sandbox/layers/namespaces.h"

namespace sortie {
namespace {

/// Moves the descriptors to 3 and what follows, and closes all others; 0, 1 and 2 become /dev/null.
void keep_only(const std::vector<Fd*>& kept) {
  // First out of the way of each other.
  for (Fd* const one : kept) {
    const int high = ::fcntl(one->get(), F_DUPFD_CLOEXEC, 100);
    if (high < 0) throw system_error("dup", ExitCode::environment);
    *one = Fd(high);
  }
  int next = 3;
  for (Fd* const one : kept) {
    if (::dup3(one->get(), next, O_CLOEXEC) < 0) throw system_error("dup3", ExitCode::environment);
    *one = Fd(next++);
  }
  ::syscall(SYS_close_range, static_cast<unsigned>(next), ~0u, 0u);
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int standard = 0; standard <= 2; ++standard) ::dup2(null.get(), standard);
}

/// Overwrites the environment as the kernel shows it in /proc/PID/environ, and as this process
/// knows it: keys are in it.
void wipe_environment() {
  for (char** variable = ::environ; variable != nullptr && *variable != nullptr; ++variable)
    ::explicit_bzero(*variable, std::strlen(*variable));
  static char* none[] = {nullptr};
  ::environ = none;
  // What was unset or replaced before still stands in the block: fields 50 and 51 of stat(5).
  const Fd file(::open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
  char text[2048] = {};
  if (!file || ::read(file.get(), text, sizeof text - 1) <= 0) return;
  const char* at = std::strrchr(text, ')');
  for (int field = 2; at != nullptr && field < 50; ++field) at = std::strchr(at + 1, ' ');
  if (at == nullptr) return;
  char* rest = nullptr;
  const std::uintptr_t begin = std::strtoull(at + 1, &rest, 10);
  const std::uintptr_t end = std::strtoull(rest, nullptr, 10);
  if (begin != 0 && begin < end) ::explicit_bzero(reinterpret_cast<char*>(begin), end - begin);
}

/// The machine's out-of-memory killer takes the commands, which inherit it, before anything else of
/// the user's. The keeper is the smallest of them.
void offer_to_be_killed() {
  const Fd file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file) static_cast<void>(write_all(file.get(), "800"));
}

}  // namespace

void settle(KeeperStart& start) {
  ::prctl(PR_SET_NAME, "sortie-keeper");
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::setsid();
  std::vector<Fd*> kept = {&start.socket};
  if (start.group) kept.push_back(&start.group);
  keep_only(kept);
  wipe_environment();
  if ((start.new_namespaces & CLONE_NEWUSER) != 0) {
    // The files of an undumpable process belong to root: its maps could not be written.
    ::prctl(PR_SET_DUMPABLE, 1);
    map_own_ids(start.uid, start.gid);
  }
  offer_to_be_killed();
  ::prctl(PR_SET_DUMPABLE, 0);
  if (start.profile.use_namespaces) {
    // All its children die with process 1. Without a PID namespace it has to live on, to end them
    // when the socket closes.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if ((start.new_namespaces & CLONE_NEWNET) != 0) {
      raise_loopback();
    } else if (has_own_network(start.profile)) {
      start.network = make_network();
    }
  } else {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
}

void bound_process_ids(const PolicyLimits& limits) {
  // Before that release, writing would change the machine's.
  if (limits.processes <= 0 || !kernel_is(6, 14)) return;
  const Fd file(::open("/proc/sys/kernel/pid_max", O_WRONLY | O_CLOEXEC));
  const std::string number = std::to_string(most_tasks(limits));
  // Sampling is what holds; this is what it can be spared.
  if (file) static_cast<void>(write_all(file.get(), number));
}

}  // namespace sortie
