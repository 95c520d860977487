// Other processes of the same user: their limits, their schedule, what they share by number.
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/base/fd.h"
#include "tests/policies/sandbox/escape/attempts.h"

namespace sortie::escape {
namespace {

std::string proc_of(pid_t process, const char* name) {
  return "/proc/" + std::to_string(process) + "/" + name;
}

bool is_victim(const Ground& ground) {
  const Fd file(::open(proc_of(ground.victim, "comm").c_str(), O_RDONLY | O_CLOEXEC));
  char name[16] = {};
  return file && ::read(file.get(), name, sizeof name) > 0 && std::string(name, 6) == "escape";
}

/// In the sandbox's own process namespace the number is another process, if any.
int of_victim(const Ground& ground, int error) {
  return error == 0 && !is_victim(ground) ? ESRCH : error;
}

int opens(const std::string& path, int flags) {
  const Fd file(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK));
  return outcome(file.get());
}

template <typename Body>
int for_each_process(const Body& through) {
  DIR* const proc = ::opendir("/proc");
  if (proc == nullptr) return errno;
  int error = EACCES;
  while (const dirent* const entry = ::readdir(proc)) {
    const pid_t process = std::atoi(entry->d_name);
    if (process > 0 && process != ::getpid() && through(process)) error = 0;
  }
  ::closedir(proc);
  return error;
}

std::string content_of(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char block[8192];
  const ssize_t size = file ? ::read(file.get(), block, sizeof block) : -1;
  return size > 0 ? std::string(block, static_cast<std::size_t>(size)) : "";
}

int search_environments(const Ground&) {
  return for_each_process([](pid_t process) {
    return content_of(proc_of(process, "environ")).find("MARKER=treasure") != std::string::npos;
  });
}

int search_environments_of_threads(const Ground&) {
  return for_each_process([](pid_t process) {
    const std::string path = proc_of(process, "task/") + std::to_string(process) + "/environ";
    return content_of(path).find("MARKER=treasure") != std::string::npos;
  });
}

/// Of processes that are not this command's own: in a sandbox of namespaces there is only its first
/// process beside it, which must be as closed as any other.
int search_memory(const Ground&) {
  const pid_t parent = ::getppid();
  return for_each_process([&](pid_t process) {
    return process != parent && opens(proc_of(process, "mem"), O_RDONLY) == 0;
  });
}

int search_roots(const Ground& ground) {
  return for_each_process([&](pid_t process) {
    return opens(proc_of(process, "root") + ground.outside + "/treasure", O_RDONLY) == 0;
  });
}

int search_descriptors(const Ground& ground) {
  return for_each_process([&](pid_t process) {
    for (int number = 0; number < 256; ++number) {
      const std::string path = proc_of(process, "fd/") + std::to_string(number);
      char target[PATH_MAX] = {};
      if (::readlink(path.c_str(), target, sizeof target - 1) < 0) continue;
      if (std::string_view(target).starts_with(ground.outside) && opens(path, O_RDONLY) == 0)
        return true;
    }
    return false;
  });
}

int see_maps(const Ground& ground) {
  const std::string maps = content_of(proc_of(ground.victim, "maps"));
  return of_victim(ground, maps.empty() ? EACCES : 0);
}

int see_descriptors(const Ground& ground) {
  char target[PATH_MAX];
  return of_victim(
      ground, outcome(::readlink(proc_of(ground.victim, "fd/0").c_str(), target, sizeof target)));
}

int open_its_input(const Ground& ground) {
  return of_victim(ground, opens(proc_of(ground.victim, "fd/0"), O_RDONLY));
}

int see_its_folder(const Ground& ground) {
  char target[PATH_MAX];
  return of_victim(
      ground, outcome(::readlink(proc_of(ground.victim, "cwd").c_str(), target, sizeof target)));
}

int open_its_namespace(const Ground& ground) {
  return of_victim(ground, opens(proc_of(ground.victim, "ns/mnt"), O_RDONLY));
}

int offer_it_to_the_killer(const Ground& ground) {
  return of_victim(ground, opens(proc_of(ground.victim, "oom_score_adj"), O_WRONLY));
}

int clear_its_pages(const Ground& ground) {
  return of_victim(ground, opens(proc_of(ground.victim, "clear_refs"), O_WRONLY));
}

int limit_it(const Ground& ground) {
  rlimit limit{};
  if (::prlimit(ground.victim, RLIMIT_CORE, nullptr, &limit) != 0) return errno;
  return of_victim(ground, outcome(::prlimit(ground.victim, RLIMIT_CORE, &limit, nullptr)));
}

int renice_it(const Ground& ground) {
  const int now = ::getpriority(PRIO_PROCESS, static_cast<id_t>(ground.victim));
  return of_victim(ground,
                   outcome(::setpriority(PRIO_PROCESS, static_cast<id_t>(ground.victim), now)));
}

int schedule_it(const Ground& ground) {
  sched_param parameter{};
  return of_victim(ground, outcome(::sched_setscheduler(ground.victim, SCHED_OTHER, &parameter)));
}

int pin_it(const Ground& ground) {
  cpu_set_t set;
  if (::sched_getaffinity(ground.victim, sizeof set, &set) != 0) return errno;
  return of_victim(ground, outcome(::sched_setaffinity(ground.victim, sizeof set, &set)));
}

int slow_its_disk(const Ground& ground) {
  return of_victim(ground, outcome(::syscall(SYS_ioprio_set, 1, ground.victim, 2 << 13 | 4)));
}

int find_its_pages(const Ground& ground) {
  return of_victim(ground, outcome(::syscall(SYS_move_pages, ground.victim, 0L, 0L, 0L, 0L, 0L)));
}

int move_its_pages(const Ground& ground) {
  unsigned long nodes = 1;
  const long moved = ::syscall(SYS_migrate_pages, ground.victim, 2L, &nodes, &nodes);
  return of_victim(ground, outcome(moved));
}

int advise_it(const Ground& ground) {
  const Fd handle(static_cast<int>(::syscall(SYS_pidfd_open, ground.victim, 0)));
  if (!handle) return errno;
  const iovec none{nullptr, 0};
  return of_victim(ground,
                   outcome(::syscall(SYS_process_madvise, handle.get(), &none, 1L, MADV_COLD, 0L)));
}

/// An address that no process has: what counts is whether the kernel looks into the other one.
int write_memory(const Ground& ground) {
  char byte = 0;
  const iovec local{&byte, 1};
  const iovec remote{nullptr, 1};
  ::syscall(SYS_process_vm_writev, ground.victim, &local, 1L, &remote, 1L, 0L);
  return errno == EFAULT ? 0 : errno;
}

int seize_it(const Ground& ground) {
  const long seized = ::syscall(SYS_ptrace, 0x4206L /* PTRACE_SEIZE */, ground.victim, 0L, 0L);
  if (seized != 0) return errno;
  ::syscall(SYS_ptrace, 0x4207L /* PTRACE_INTERRUPT */, ground.victim, 0L, 0L);
  ::waitpid(ground.victim, nullptr, __WALL);
  ::syscall(SYS_ptrace, 17L /* PTRACE_DETACH */, ground.victim, 0L, 0L);
  return 0;
}

int find_its_locks(const Ground& ground) {
  void* head = nullptr;
  std::size_t length = 0;
  return of_victim(ground, outcome(::syscall(SYS_get_robust_list, ground.victim, &head, &length)));
}

int signal_its_thread(const Ground& ground) {
  return of_victim(ground, outcome(::syscall(SYS_tgkill, ground.victim, ground.victim, 0)));
}

int queue_a_signal(const Ground& ground) {
  return of_victim(ground, outcome(::sigqueue(ground.victim, 0, sigval{})));
}

int signal_its_group(const Ground& ground) {
  const pid_t group = ::getpgid(ground.victim);
  if (group < 0) return errno;
  return of_victim(ground, outcome(::kill(-group, 0)));
}

int attach_segment(const Ground& ground) {
  void* const place = ::shmat(ground.segment, nullptr, 0);
  if (place == reinterpret_cast<void*>(-1)) return errno;
  ::shmdt(place);
  return 0;
}

int send_message(const Ground& ground) {
  const struct {
    long kind = 1;
    char text = 'x';
  } message;
  return outcome(::msgsnd(ground.messages, &message, 0, IPC_NOWAIT));
}

int take_message(const Ground& ground) {
  struct {
    long kind = 0;
    char text[64] = {};
  } message;
  const int error = outcome(
      ::msgrcv(ground.messages, &message, sizeof message.text, 0, IPC_NOWAIT | MSG_NOERROR));
  return error == ENOMSG ? 0 : error;
}

int open_queue(const Ground& ground) {
  const Fd queue(::mq_open(ground.queue.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  return outcome(queue.get());
}

int list_segments(const Ground& ground) {
  shmid_ds segment{};
  return outcome(::shmctl(ground.segment, IPC_STAT, &segment));
}

}  // namespace

const std::vector<Attempt>& neighbour_attempts() {
  static const std::vector<Attempt> list = {
      {"search_environments", Control::owner, Scope::always, search_environments},
      {"search_environments_of_threads", Control::owner, Scope::always,
       search_environments_of_threads},
      {"search_memory", Control::owner, Scope::always, search_memory},
      {"search_roots", Control::owner, Scope::always, search_roots},
      {"search_descriptors", Control::root, Scope::always, search_descriptors},
      {"see_maps", Control::owner, Scope::always, see_maps},
      {"see_descriptors", Control::owner, Scope::always, see_descriptors},
      {"open_its_input", Control::owner, Scope::always, open_its_input},
      {"see_its_folder", Control::owner, Scope::always, see_its_folder},
      {"open_its_namespace", Control::owner, Scope::always, open_its_namespace},
      {"offer_it_to_the_killer", Control::owner, Scope::always, offer_it_to_the_killer},
      {"clear_its_pages", Control::owner, Scope::always, clear_its_pages},
      {"limit_it", Control::owner, Scope::always, limit_it},
      {"renice_it", Control::owner, Scope::always, renice_it},
      {"schedule_it", Control::owner, Scope::always, schedule_it},
      {"pin_it", Control::owner, Scope::always, pin_it},
      {"slow_its_disk", Control::owner, Scope::always, slow_its_disk},
      {"find_its_pages", Control::owner, Scope::always, find_its_pages},
      {"move_its_pages", Control::owner, Scope::always, move_its_pages},
      {"advise_it", Control::owner, Scope::always, advise_it},
      {"write_memory", Control::owner, Scope::always, write_memory},
      {"seize_it", Control::owner, Scope::always, seize_it},
      {"find_its_locks", Control::owner, Scope::always, find_its_locks},
      {"signal_its_thread", Control::owner, Scope::always, signal_its_thread},
      {"queue_a_signal", Control::owner, Scope::always, queue_a_signal},
      {"signal_its_group", Control::owner, Scope::always, signal_its_group},
      {"attach_segment", Control::owner, Scope::always, attach_segment},
      {"list_segments", Control::owner, Scope::always, list_segments},
      {"send_message", Control::owner, Scope::always, send_message},
      {"take_message", Control::owner, Scope::always, take_message},
      {"open_queue", Control::owner, Scope::always, open_queue},
  };
  return list;
}

}  // namespace sortie::escape
