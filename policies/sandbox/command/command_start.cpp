#include "policies/sandbox/command/command_start.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>

#include "core/base/error.h"
#include "core/process/channel.h"
#include "policies/sandbox/canary.h"
#include "policies/sandbox/layers/mounts.h"
#include "policies/sandbox/layers/namespaces.h"
#include "policies/sandbox/layers/process_tree.h"
#include "policies/sandbox/view/view.h"

namespace sortie {
namespace {

constexpr int kNotStarted = 127;

/// Strings for execve(2).
std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (auto& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

/// Possible paths of a program: itself if it has a slash, else in each absolute folder of PATH.
std::vector<std::string> candidates(const Command& command) {
  const std::string& name = command.argv.front();
  if (name.find('/') != std::string::npos) return {name};
  std::vector<std::string> paths;
  const auto variable = command.environment.find("PATH");
  const std::string path = variable == command.environment.end() ? "" : variable->second;
  for (std::size_t start = 0; start < path.size();) {
    const std::size_t end = std::min(path.find(':', start), path.size());
    if (path[start] == '/') paths.push_back(path.substr(start, end - start) + '/' + name);
    start = end + 1;
  }
  return paths;
}

/// Everything the command's child needs, prepared before the fork, so that it allocates nothing.
class Program {
 public:
  explicit Program(const Command& command)
      : arguments_(command.argv), paths_(candidates(command)), workdir_(command.workdir) {
    for (const auto& [name, value] : command.environment)
      environment_.push_back(name + '=' + value);
    argv_ = pointers(arguments_);
    envp_ = pointers(environment_);
    // For a script without "#!", as execvp(3) does it: argv[1] is set to its path.
    shell_argv_ = {shell_.data(), nullptr};
    shell_argv_.insert(shell_argv_.end(), argv_.begin() + 1, argv_.end());
  }

  const char* workdir() const noexcept { return workdir_.c_str(); }
  int argc() const noexcept { return static_cast<int>(arguments_.size()); }
  char** argv() noexcept { return argv_.data(); }
  char** envp() noexcept { return envp_.data(); }

  /// execvpe(3) without its allocations. Returns the errno.
  int execute() noexcept {
    int error = ENOENT;
    for (auto& path : paths_) {
      ::execve(path.c_str(), argv_.data(), envp_.data());
      if (errno == ENOEXEC) {
        shell_argv_[1] = path.data();
        ::execve("/bin/sh", shell_argv_.data(), envp_.data());
      }
      if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) return errno;
      if (errno == EACCES) error = EACCES;
    }
    return error;
  }

 private:
  std::vector<std::string> arguments_;
  std::vector<std::string> environment_;
  std::vector<std::string> paths_;
  std::string workdir_;
  std::string shell_ = "sh";
  std::vector<char*> argv_;
  std::vector<char*> envp_;
  std::vector<char*> shell_argv_;
};

void send_report(int report, const StartReport& message) noexcept {
  // Smaller than PIPE_BUF: atomic. A keeper that is gone needs no answer.
  static_cast<void>(::write(report, &message, sizeof message) == 0);
}

/// The keeper has reset their actions; all are blocked in it.
void unblock_signals() noexcept {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// The confinement that the command's process applies to itself, in this order.
class Confinement {
 public:
  Confinement(const Command& command, const CommandLayers& layers, const CommandPlaces& places,
              const CommandStreams& streams, const Fd& null)
      : layers_(layers),
        rules_(places.rules != nullptr ? *places.rules
               : command.read_only     ? layers.read_only_rules
                                       : layers.rules),
        input_(streams.input ? streams.input.get() : null.get()),
        output_(streams.output ? streams.output.get() : input_),
        errors_(streams.errors ? streams.errors.get() : output_),
        has_terminal_(command.input == CommandInput::terminal),
        cpu_seconds_(cpu_seconds(layers.profile, command.timeout)) {}

  /// The step that failed, errno in `error`. Neither allocates nor throws: the parent's memory may
  /// be shared (vfork(2)).
  StartStep apply(const char* workdir, int& error) const noexcept {
    if (!redirect()) return fail(StartStep::descriptors, errno, error);
    ::setsid();
    if (has_terminal_ && ::ioctl(0, TIOCSCTTY, 0) != 0)
      return fail(StartStep::terminal, errno, error);
    if (layers_.profile.mode != SandboxMode::none) {
      if (const auto failed = confine(error); failed != StartStep::none) return failed;
    } else if (const int code = apply_resource_limits(layers_.profile, cpu_seconds_)) {
      return fail(StartStep::limits, code, error);
    }
    // After the ids: changing them clears it (prctl(2)).
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::syscall(SYS_close_range, 3u, ~0u, 1u << 2 /* CLOSE_RANGE_CLOEXEC */) != 0 &&
        errno != ENOSYS)
      return fail(StartStep::descriptors, errno, error);
    if (::chdir(workdir) != 0) return fail(StartStep::workdir, errno, error);
    return StartStep::none;
  }

  bool is_gated() const noexcept { return layers_.gate >= 0; }

 private:
  bool redirect() const noexcept {
    return ::dup2(input_, 0) >= 0 && ::dup2(output_, 1) >= 0 && ::dup2(errors_, 2) >= 0;
  }

  StartStep confine(int& error) const noexcept {
    if (const int code = apply_resource_limits(layers_.profile, cpu_seconds_))
      return fail(StartStep::limits, code, error);
    if (const int code = drop_privileges(layers_.profile.uid, layers_.profile.gid))
      return fail(StartStep::ids, code, error);
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
      return fail(StartStep::no_new_privs, errno, error);
    if (const int code = rules_.apply()) return fail(StartStep::landlock, code, error);
    // Landlock before seccomp: the filter would refuse landlock_restrict_self(2).
    if (layers_.gate < 0) {
      if (const int code = layers_.filter.apply()) return fail(StartStep::seccomp, code, error);
      return StartStep::none;
    }
    int listener = -1;
    if (const int code = layers_.filter.apply(&listener))
      return fail(StartStep::seccomp, code, error);
    // The holder of the listener answers for the gate: it must not be the command itself.
    const int code = send_descriptor(layers_.gate, listener);
    ::close(listener);
    ::close(layers_.gate);
    return code == 0 ? StartStep::none : fail(StartStep::connect_gate, code, error);
  }

  static StartStep fail(StartStep step, int code, int& error) noexcept {
    error = code;
    return step;
  }

  const CommandLayers& layers_;
  const LandlockRules& rules_;
  int input_;
  int output_;
  int errors_;
  bool has_terminal_;
  std::uint64_t cpu_seconds_;
};

/// The command's process: confines itself and executes the program.
[[noreturn]] void become_program(Program& program, const Confinement& confinement,
                                 int report) noexcept {
  unblock_signals();
  StartReport message;
  message.failed = confinement.apply(program.workdir(), message.error);
  if (message.failed == StartStep::none) {
    message.failed = StartStep::exec;
    message.error = program.execute();
  }
  send_report(report, message);
  ::_exit(kNotStarted);
}

/// The canary's process: it executes no program, and has memory of its own.
[[noreturn]] void become_canary(Program& program, const Confinement& confinement, int report) {
  unblock_signals();
  StartReport message;
  message.failed = confinement.apply(program.workdir(), message.error);
  if (message.failed != StartStep::none) {
    send_report(report, message);
    ::_exit(kNotStarted);
  }
  // Behind a connect gate sortie has to see what it connects to, as with any program after exec(2).
  if (confinement.is_gated()) ::prctl(PR_SET_DUMPABLE, 1);
  ::syscall(SYS_close_range, 3u, ~0u, 0u);
  ::environ = program.envp();
  int code = kNotStarted;
  try {
    code = canary_main(program.argc(), program.argv());
  } catch (const std::exception&) {
  }
  ::_exit(code);
}

pid_t fork_command(bool canary, Program& program, const Confinement& confinement, int report) {
  if (canary) {
    const pid_t pid = ::fork();
    if (pid == 0) become_canary(program, confinement, report);
    return pid;
  }
  // Shares the memory until exec, and holds this process meanwhile: no page tables are copied.
  const pid_t pid = ::vfork();
  if (pid == 0) become_program(program, confinement, report);
  return pid;
}

/// Kills and counts the command's remaining processes, all descendants of this process.
int end_the_rest(bool own_pid_namespace) {
  if (!own_pid_namespace) return kill_strays({});
  pid_t reaped = 0;
  do reaped = ::waitpid(-1, nullptr, WNOHANG);
  while (reaped > 0);
  if (reaped < 0) return 0;  // ECHILD
  ::kill(-1, SIGKILL);
  int count = 0;
  while (::waitpid(-1, nullptr, 0) > 0) ++count;  // all signals are blocked: no EINTR
  return count;
}

/// Enters the namespaces of the command's private set; its mounts are copied as the run's are.
bool enter(const CommandPlaces& places) noexcept {
  if (places.mounts < 0) return true;
  return ::setns(places.ipc, CLONE_NEWIPC) == 0 && ::setns(places.mounts, CLONE_NEWNS) == 0 &&
         ::unshare(CLONE_NEWNS) == 0;
}

[[noreturn]] void be_first_process(const Command& command, const CommandLayers& layers,
                                   const CommandPlaces& places, CommandStreams streams,
                                   const Fd& report, bool namespaces) {
  ::prctl(PR_SET_NAME, "sortie-command");
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!namespaces) ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  StartReport message;
  const auto fail = [&](StartStep step, int error) {
    message.failed = step;
    message.error = error;
    send_report(report.get(), message);
    ::_exit(kNotStarted);
  };
  const int network = places.network >= 0 ? places.network : layers.network;
  if (network >= 0 && ::setns(network, CLONE_NEWNET) != 0) fail(StartStep::network, errno);
  if (!enter(places)) fail(StartStep::places, errno);
  if (namespaces) {
    // The group that it was started in becomes the root of what it sees; without, it sees a path of
    // the machine in /proc/self/cgroup, and nothing else changes.
    static_cast<void>(::unshare(CLONE_NEWCGROUP));
    // uid 0 without capabilities still owns the machine's switches in /proc.
    if (const int error = mount_command_proc(layers.profile.uid == 0)) fail(StartStep::proc, error);
    const std::string workspace = workspace_root(layers.profile);
    // In a view that some commands may write to, it is made read-only for the others.
    const bool read_only = command.read_only || layers.profile.mode == SandboxMode::read_only;
    if (read_only && !is_view_read_only(layers.profile) && !workspace.empty()) {
      if (const int error = make_tree_read_only(workspace.c_str()))
        fail(StartStep::read_only, error);
    }
    if (command.read_only) {
      // Those that are not mounts are left to Landlock.
      for (const auto& path : layers.profile.writable) make_tree_read_only(path.c_str());
    }
  }
  Program program(command);
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const Confinement confinement(command, layers, places, streams, null);
  const pid_t child = fork_command(command.canary, program, confinement, report.get());
  if (child < 0) fail(StartStep::fork, errno);
  streams = {};

  for (pid_t ended = 0; ended != child;) {
    ended = ::waitpid(-1, &message.wait_status, 0);
    if (ended < 0 && errno != EINTR) break;
  }
  message.left_behind = end_the_rest(namespaces);
  send_report(report.get(), message);
  ::_exit(0);
}

}  // namespace

pid_t start_command(const Command& command, const CommandLayers& layers,
                    const CommandPlaces& places, const Fd& group, CommandStreams streams,
                    const Fd& report) {
  const bool namespaces = layers.profile.use_namespaces;
  unsigned long flags = namespaces ? CLONE_NEWPID : 0;
  if (namespaces && places.mounts < 0) flags |= CLONE_NEWNS;
  const pid_t pid = clone_process(flags, group);
  if (pid != 0) return pid;
  try {
    be_first_process(command, layers, places, std::move(streams), report, namespaces);
  } catch (const std::exception&) {
    ::_exit(kNotStarted);
  }
}

const char* name_of(StartStep step) noexcept {
  switch (step) {
    case StartStep::none:
      return "nothing";
    case StartStep::places:
      return "enter its private set";
    case StartStep::network:
      return "enter the network namespace";
    case StartStep::proc:
      return "mount /proc";
    case StartStep::read_only:
      return "make the workspace read-only";
    case StartStep::fork:
      return "fork";
    case StartStep::limits:
      return "set resource limits";
    case StartStep::ids:
      return "drop privileges";
    case StartStep::no_new_privs:
      return "set no_new_privs";
    case StartStep::landlock:
      return "Landlock";
    case StartStep::seccomp:
      return "seccomp";
    case StartStep::connect_gate:
      return "hand over the connect gate";
    case StartStep::descriptors:
      return "close descriptors";
    case StartStep::terminal:
      return "take its terminal";
    case StartStep::workdir:
      return "enter the working folder";
    case StartStep::exec:
      return "exec";
  }
  return "unknown";
}

namespace {

constexpr unsigned kWrites = 1;
constexpr unsigned kNetwork = 2;

}  // namespace

bool has_kind(const SandboxProfile& profile, unsigned kind) noexcept {
  const unsigned possible =
      (profile.may_escalate_writes ? kWrites : 0) | (profile.may_escalate_network ? kNetwork : 0);
  return (kind & ~possible) == 0;
}

SandboxProfile profile_of_kind(const SandboxProfile& run, unsigned kind) {
  SandboxProfile profile = run;
  if ((kind & kWrites) != 0 && profile.mode == SandboxMode::read_only)
    profile.mode = SandboxMode::workspace_write;
  if ((kind & kNetwork) != 0) profile.network = NetworkMode::full;
  return profile;
}

ByKind<SeccompFilter> compile_filters(const SandboxProfile& profile) {
  ByKind<SeccompFilter> filters;
  for (unsigned kind = 0; kind < filters.size(); ++kind)
    if (has_kind(profile, kind))
      filters[kind] = std::make_unique<SeccompFilter>(profile_of_kind(profile, kind));
  return filters;
}

LayerSet::LayerSet(const SandboxProfile& profile, ByKind<SeccompFilter> filters, const Fd& network,
                   const Fd& gate) {
  for (unsigned kind = 0; kind < kinds_.size(); ++kind) {
    if (!has_kind(profile, kind)) continue;
    kinds_[kind] =
        std::make_unique<CommandLayers>(profile_of_kind(profile, kind), std::move(*filters[kind]));
    if ((kind & kNetwork) == 0) kinds_[kind]->network = network.get();
    if (has_connect_gate(kinds_[kind]->profile)) kinds_[kind]->gate = gate.get();
  }
}

const CommandLayers& LayerSet::of(const Command& command) const {
  const unsigned kind = (command.writes ? kWrites : 0) | (command.open_network ? kNetwork : 0);
  if (!kinds_[kind])
    throw Error("this run's sandbox was not made for commands with more permissions");
  return *kinds_[kind];
}

}  // namespace sortie
