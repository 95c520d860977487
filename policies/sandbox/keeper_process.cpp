#include "policies/sandbox/keeper_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <optional>

#include "core/base/error.h"
#include "policies/sandbox/channel.h"
#include "policies/sandbox/command_start.h"
#include "policies/sandbox/keeper_messages.h"
#include "policies/sandbox/namespaces.h"
#include "policies/sandbox/process_tree.h"
#include "policies/sandbox/view.h"
#include "policies/sandbox/wire.h"

namespace sortie {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kSample{50};
constexpr unsigned kUnmappedEvery = 5;  // samples: all descriptors are looked at
constexpr off_t kMaxRequest = 16 << 20;

std::string mebibytes(std::uint64_t bytes) {
  return std::to_string((bytes + (1u << 19)) >> 20) + " MiB";
}

/// A command that runs.
struct Running {
  pid_t first = 0;  ///< its first process
  Fd control;
  Fd report;
  steady_clock::time_point started = steady_clock::now();
  std::string name;
  std::optional<Ending> why;  ///< set where the keeper kills it
  std::string detail;
};

ExitStatus status_of(const StartReport& report) {
  ExitStatus status;
  if (WIFSIGNALED(report.wait_status)) {
    status.ending = Ending::signalled;
    status.code = WTERMSIG(report.wait_status);
  } else {
    status.code = WEXITSTATUS(report.wait_status);
  }
  status.ended_background = report.left_behind > 0;
  return status;
}

/// A start that failed by the command's own doing, in words for the model; else a broken layer.
CommandEnd failed_start(const StartReport& report, const std::string& name) {
  CommandEnd end;
  end.status.ending = Ending::not_started;
  const std::string cause = errno_text(report.error);
  if (report.failed == StartStep::workdir) {
    end.status.detail = "can't enter the working folder: " + cause;
  } else if (report.failed != StartStep::exec) {
    end.failure =
        std::string("a command could not be confined: ") + name_of(report.failed) + ": " + cause;
  } else if (report.error == ENOENT) {
    const bool path = name.find('/') != std::string::npos;
    end.status.detail = "no such program '" + name + (path ? "'" : "' on PATH");
  } else if (report.error == E2BIG) {
    end.status.detail = "arguments and environment are too long";
  } else {
    end.status.detail = "can't execute '" + name + "': " + cause;
  }
  return end;
}

/// Everything after the view stands: one loop over sockets, children and the time.
class Service {
 public:
  Service(const SandboxProfile& profile, View view, const Fd& socket)
      : profile_(profile),
        view_(std::move(view)),
        socket_(socket),
        rules_(profile, {.read_only = false}),
        read_only_rules_(profile, {.read_only = true}),
        filter_(profile),
        layers_{profile_, rules_, read_only_rules_, filter_} {
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    signals_ = Fd(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals_) throw system_error("signalfd", ExitCode::environment);
  }

  const View& view() const { return view_; }

  /// Until the socket closes or says so.
  void serve() {
    while (!quit_) {
      wait();
      if (steady_clock::now() >= next_sample_) sample();
    }
  }

  /// @return whether nothing is left
  bool end_all() {
    for (const auto& command : running_) ::kill(command.first, SIGKILL);
    if (profile_.use_namespaces) ::kill(-1, SIGKILL);  // process 1 itself is left out
    for (;;) {
      const pid_t ended = ::waitpid(-1, nullptr, 0);
      if (ended < 0 && errno != EINTR) break;
      if (!profile_.use_namespaces && ended > 0) kill_strays({});
    }
    remove_placeholders(view_);
    return children_of(::getpid()).empty();
  }

 private:
  void wait() {
    std::vector<pollfd> polled = {{socket_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    for (const auto& command : running_) polled.push_back({command.control.get(), POLLIN, 0});
    int timeout = -1;
    if (!running_.empty()) {
      const auto left = std::chrono::ceil<milliseconds>(next_sample_ - steady_clock::now());
      timeout = static_cast<int>(std::max<std::int64_t>(left.count(), 0));
    } else {
      next_sample_ = steady_clock::time_point::max();
    }
    if (::poll(polled.data(), polled.size(), timeout) <= 0) return;
    // In the order they were listed in: no command is added or removed before this is done.
    std::size_t place = 2;
    for (auto& command : running_) {
      if (polled[place++].revents != 0) hear(command);
    }
    if (polled[1].revents != 0) reap();
    if (polled[0].revents != 0) take_request();
  }

  /// A command's socket says: end it; also by being closed.
  void hear(Running& command) {
    const auto message = receive_message(command.control.get(), Wait::no);
    if (message.bytes.empty() && !message.closed) return;
    const Ending why =
        message.bytes.empty() ? Ending::cancelled : static_cast<Ending>(message.bytes.front());
    end(command, why, "");
  }

  void end(Running& command, Ending why, const std::string& detail) {
    if (command.why) return;
    command.why = why;
    command.detail = detail;
    ::kill(command.first, SIGKILL);
  }

  void reap() {
    signalfd_siginfo ignored[16];
    while (::read(signals_.get(), ignored, sizeof ignored) > 0) {
    }
    for (;;) {
      rusage use{};
      const pid_t ended = ::wait4(-1, nullptr, WNOHANG, &use);
      if (ended <= 0) return;
      // Blocks of 512 bytes, those of all descendants that were reaped included (getrusage(2)).
      written_ += static_cast<std::uint64_t>(use.ru_oublock) * 512;
      const auto found = std::find_if(running_.begin(), running_.end(),
                                      [&](const Running& each) { return each.first == ended; });
      if (found == running_.end()) continue;
      const Running command = std::move(*found);
      running_.erase(found);
      answer(command);
    }
  }

  void answer(const Running& command) {
    bool swept = false;
    if (!profile_.use_namespaces) {
      std::vector<pid_t> spared;
      for (const auto& other : running_) spared.push_back(other.first);
      swept = kill_strays(spared) > 0;
    }
    CommandEnd end = end_of(command);
    end.status.ended_background |= swept && !command.why;
    end.status.duration =
        std::chrono::duration_cast<milliseconds>(steady_clock::now() - command.started);
    send_message(command.control.get(), encode_end(end));
  }

  static CommandEnd end_of(const Running& command) {
    StartReport report;
    bool known = false;
    for (StartReport next; ::read(command.report.get(), &next, sizeof next) == sizeof next;) {
      if (!known || report.failed == StartStep::none) report = next;
      known = true;
    }
    if (known && report.failed != StartStep::none) return failed_start(report, command.name);
    CommandEnd end;
    if (command.why) {
      end.status.ending = *command.why;
      end.status.detail = command.detail;
    } else if (known) {
      end.status = status_of(report);
    } else {
      end.status.ending = Ending::signalled;
      end.status.code = SIGKILL;
      end.status.detail = "its first process was killed from outside";
    }
    return end;
  }

  void take_request() {
    ChannelMessage message = receive_message(socket_.get(), Wait::no);
    if (message.closed) quit_ = true;
    if (message.bytes.empty()) return;
    WireReader reader(message.bytes);
    const auto word = static_cast<KeeperWord>(reader.number());
    if (word != KeeperWord::start || message.descriptors.size() != 3) {
      quit_ = true;
      return;
    }
    start(message.descriptors[0], message.descriptors[1], std::move(message.descriptors[2]));
  }

  void start(const Fd& request, const Fd& output, Fd control) {
    CommandEnd refused;
    try {
      const Command command = read_request(request);
      Pipe report = make_pipe();
      ::fcntl(report.read.get(), F_SETFL, O_NONBLOCK);
      Running running;
      running.first = start_command(command, layers_, output, report.write);
      if (running.first > 0) {
        running.control = std::move(control);
        running.report = std::move(report.read);
        running.name = command.argv.front();
        if (running_.empty()) {
          next_sample_ = steady_clock::now() + kSample;
          samples_ = 0;
        }
        running_.push_back(std::move(running));
        return;
      }
      refused.failure = "a command could not be confined: clone: " + errno_text(errno);
    } catch (const std::exception& error) {
      refused.failure = error.what();
    }
    send_message(control.get(), encode_end(refused));
  }

  static Command read_request(const Fd& request) {
    struct stat status {};
    if (::fstat(request.get(), &status) != 0 || status.st_size > kMaxRequest)
      throw Error("a command's request is too long");
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    if (::pread(request.get(), bytes.data(), bytes.size(), 0) != status.st_size)
      throw system_error("read a command's request");
    Command command = decode_command(bytes);
    if (command.argv.empty()) throw Error("a command without a program");
    return command;
  }

  /// What the run as a whole uses; the largest command is ended where it is too much.
  void sample() {
    next_sample_ = steady_clock::now() + kSample;
    struct Sampled {
      Running* command;
      TreeUse use;
    };
    std::vector<Sampled> sampled;
    TreeUse sum;
    for (auto& command : running_) {
      sampled.push_back({&command, measure_descendants(command.first)});
      sum.processes += sampled.back().use.processes;
      sum.memory_bytes += sampled.back().use.memory_bytes;
      sum.written_bytes += sampled.back().use.written_bytes;
    }
    if (sampled.empty()) return;
    const auto largest = [&](auto member) -> Running& {
      return *std::max_element(sampled.begin(), sampled.end(), [&](const auto& a, const auto& b) {
                return a.use.*member < b.use.*member;
              })->command;
    };
    const std::uint64_t kept = private_bytes();
    if (samples_++ % kUnmappedEvery == 0) measure_unmapped();
    if (profile_.limits.processes > 0 && sum.processes > profile_.limits.processes) {
      end(largest(&TreeUse::processes), Ending::process_limit,
          std::to_string(sum.processes) + " processes of " +
              std::to_string(profile_.limits.processes));
    }
    const std::uint64_t beside = kept + unmapped_;
    if (profile_.memory_bytes > 0 && sum.memory_bytes + beside > profile_.memory_bytes) {
      const std::uint64_t used = shared_once() + beside;
      if (used > profile_.memory_bytes)
        end(largest(&TreeUse::memory_bytes), Ending::memory_limit,
            "memory " + mebibytes(used) + " of " + mebibytes(profile_.memory_bytes));
    }
    const std::uint64_t written = written_ + sum.written_bytes + kept;
    if (profile_.limits.disk > 0 && written > profile_.limits.disk) {
      end(largest(&TreeUse::written_bytes), Ending::disk_limit,
          "disk " + mebibytes(written) + " of " + mebibytes(profile_.limits.disk));
    }
  }

  /// Memory that no process has to have mapped, so that it is in nobody's count.
  void measure_unmapped() {
    unmapped_ = profile_.use_namespaces ? shared_segments() : 0;
    for (const auto& command : running_) unmapped_ += memory_files(command.first);
  }

  std::uint64_t shared_once() const {
    std::uint64_t sum = 0;
    for (const auto& command : running_) sum += proportional_memory(command.first);
    return sum;
  }

  /// What HOME, /tmp, /var/tmp and /dev/shm hold: one file system, in memory.
  std::uint64_t private_bytes() const {
    struct statvfs use {};
    if (!profile_.use_namespaces || ::statvfs("/dev/shm", &use) != 0) return 0;
    return static_cast<std::uint64_t>(use.f_blocks - use.f_bfree) * use.f_frsize;
  }

  const SandboxProfile& profile_;
  View view_;
  const Fd& socket_;
  Fd signals_;
  LandlockRules rules_;
  LandlockRules read_only_rules_;
  SeccompFilter filter_;
  CommandLayers layers_;
  std::list<Running> running_;
  unsigned samples_ = 0;        ///< since a command ran where none did before
  std::uint64_t unmapped_ = 0;  ///< as last measured
  std::uint64_t written_ = 0;   ///< by commands that have ended
  steady_clock::time_point next_sample_ = steady_clock::time_point::max();
  bool quit_ = false;
};

/// The first number of the release that has a pid_max of its own in each PID namespace; before
/// it, writing would change the machine's.
bool has_own_pid_max() {
  utsname name{};
  int major = 0;
  int minor = 0;
  if (::uname(&name) != 0 || std::sscanf(name.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 6 || (major == 6 && minor >= 14);
}

/// Bounds a fork bomb between two samples. Threads take ids too: far above the limit.
void bound_process_ids(int processes) {
  if (processes <= 0 || !has_own_pid_max()) return;
  const Fd file(::open("/proc/sys/kernel/pid_max", O_WRONLY | O_CLOEXEC));
  const std::string number = std::to_string(std::max(4096, processes * 8));
  // Sampling is what holds; this is what it can be spared.
  if (file) static_cast<void>(write_all(file.get(), number));
}

View direct_view(const SandboxProfile& profile) {
  View view;
  const std::string folder = workspace_root(profile);
  view.workspace =
      Fd(::open(folder.empty() ? "/" : folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!view.workspace) throw system_error("open " + folder, ExitCode::environment);
  return view;
}

std::string ready_message(const View& view) {
  WireWriter writer;
  writer.number(static_cast<std::int64_t>(KeeperWord::ready));
  writer.texts(view.notes);
  return writer.bytes();
}

/// Moves a descriptor to 3 and closes all others; 0, 1 and 2 become /dev/null.
void keep_only(Fd& socket) {
  if (socket.get() != 3) {
    if (::dup3(socket.get(), 3, O_CLOEXEC) < 0) throw system_error("dup3", ExitCode::environment);
    socket = Fd(3);
  }
  ::syscall(SYS_close_range, 4u, ~0u, 0u);
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

/// Cuts the process off from what it was forked from.
void settle(KeeperStart& start) {
  ::prctl(PR_SET_NAME, "sortie-keeper");
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::setsid();
  keep_only(start.socket);
  wipe_environment();
  if ((start.new_namespaces & CLONE_NEWUSER) != 0) {
    // The files of an undumpable process belong to root: its maps could not be written.
    ::prctl(PR_SET_DUMPABLE, 1);
    map_own_ids(start.uid, start.gid);
  }
  ::prctl(PR_SET_DUMPABLE, 0);
  if (start.profile.use_namespaces) {
    // All its children die with process 1. Without a PID namespace it has to live on, to end them
    // when the socket closes.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if ((start.new_namespaces & CLONE_NEWNET) != 0) raise_loopback();
  } else {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
}

int keep(KeeperStart& start) {
  const SandboxProfile& profile = start.profile;
  try {
    settle(start);
    const auto user =
        (start.new_namespaces & CLONE_NEWUSER) != 0 ? UserNamespace::own : UserNamespace::machine;
    View view = profile.use_namespaces ? build_view(profile, start.path_variable, user)
                                       : direct_view(profile);
    if (profile.use_namespaces) bound_process_ids(profile.limits.processes);
    Service service(profile, std::move(view), start.socket);
    if (!send_message(start.socket.get(), ready_message(service.view()),
                      {service.view().workspace.get()}))
      return 1;
    service.serve();
    return service.end_all() ? 0 : 1;
  } catch (const std::exception& error) {
    WireWriter writer;
    writer.number(static_cast<std::int64_t>(KeeperWord::failed));
    writer.text(error.what());
    send_message(start.socket.get(), writer.bytes());
    return 1;
  }
}

}  // namespace

void keeper_main(KeeperStart start) { ::_exit(keep(start)); }

}  // namespace sortie
