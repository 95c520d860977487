#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/fd.h"
#include "tests/policies/sandbox/escape/attempts.h"

namespace sortie::escape {
namespace {

std::string proc_of(const Ground& ground, const char* name) {
  return "/proc/" + std::to_string(ground.victim) + "/" + name;
}

int read_environ(const Ground& ground) {
  const Fd file(::open(proc_of(ground, "environ").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno;
  char block[65536];
  const ssize_t size = ::read(file.get(), block, sizeof block);
  if (size < 0) return errno;
  const std::string text(block, static_cast<std::size_t>(size));
  return text.find("MARKER=treasure") != std::string::npos ? 0 : ENOENT;
}

/// In the sandbox's own process namespace the number is another process, if any.
bool is_victim(const Ground& ground) {
  const Fd file(::open(proc_of(ground, "comm").c_str(), O_RDONLY | O_CLOEXEC));
  char name[16] = {};
  return file && ::read(file.get(), name, sizeof name) > 0 && std::string(name, 6) == "escape";
}

int open_memory(const Ground& ground) {
  const Fd file(::open(proc_of(ground, "mem").c_str(), O_RDWR | O_CLOEXEC));
  return outcome(file.get());
}

int open_by_its_root(const Ground& ground) {
  const std::string path = proc_of(ground, "root") + ground.outside + "/treasure";
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return outcome(file.get());
}

int trace(const Ground& ground) {
  const int error = outcome(::ptrace(PTRACE_ATTACH, ground.victim, nullptr, nullptr));
  if (error != 0) return error;
  ::waitpid(ground.victim, nullptr, __WALL);
  return outcome(::ptrace(PTRACE_DETACH, ground.victim, nullptr, nullptr));
}

int trace_own_child(const Ground&) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int error = outcome(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr));
    ::_exit(error);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

/// An address that no process has: what counts is whether the kernel looks into the other one.
int read_memory(const Ground& ground) {
  char byte = 0;
  const iovec local{&byte, 1};
  const iovec remote{nullptr, 1};
  ::syscall(SYS_process_vm_readv, ground.victim, &local, 1L, &remote, 1L, 0L);
  return errno == EFAULT ? 0 : errno;
}

int signal_it(const Ground& ground) {
  const int error = outcome(::kill(ground.victim, 0));
  return error == 0 && !is_victim(ground) ? ESRCH : error;
}

int signal_by_descriptor(const Ground& ground) {
  const Fd handle(static_cast<int>(::syscall(SYS_pidfd_open, ground.victim, 0)));
  if (!handle) return errno;
  const int error = outcome(::syscall(SYS_pidfd_send_signal, handle.get(), 0, nullptr, 0));
  return error == 0 && !is_victim(ground) ? ESRCH : error;
}

int steal_descriptor(const Ground& ground) {
  const Fd handle(static_cast<int>(::syscall(SYS_pidfd_open, ground.victim, 0)));
  if (!handle) return errno;
  const Fd stolen(static_cast<int>(::syscall(SYS_pidfd_getfd, handle.get(), 0, 0)));
  return outcome(stolen.get());
}

int compare(const Ground& ground) {
  const long answer = ::syscall(SYS_kcmp, ::getpid(), ground.victim, 1 /* KCMP_VM */, 0L, 0L);
  return outcome(answer);
}

/// Whether a set-uid program starts with its owner's rights.
int run_setuid(const Ground& ground) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(ground.program.c_str(), "escape", "privileged", nullptr);
    ::_exit(errno);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

}  // namespace

const std::vector<Attempt>& process_attempts() {
  static const std::vector<Attempt> list = {
      {"read_environ", Control::owner, Scope::always, read_environ},
      {"open_memory", Control::owner, Scope::always, open_memory},
      {"open_by_its_root", Control::owner, Scope::always, open_by_its_root},
      {"trace", Control::owner, Scope::always, trace},
      {"trace_own_child", Control::owner, Scope::always, trace_own_child},
      {"read_memory", Control::owner, Scope::always, read_memory},
      {"signal_it", Control::owner, Scope::always, signal_it},
      {"signal_by_descriptor", Control::owner, Scope::always, signal_by_descriptor},
      {"steal_descriptor", Control::owner, Scope::always, steal_descriptor},
      {"compare", Control::owner, Scope::always, compare},
      {"run_setuid", Control::owner, Scope::always, run_setuid},
  };
  return list;
}

}  // namespace sortie::escape
