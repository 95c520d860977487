#include "core/process/operator_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/process/process.h"

namespace sortie {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kKillWait{2000};

/// Owns the attributes and file actions of posix_spawn(3).
class SpawnPlan {
 public:
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  void use_descriptors(int input, int output, int errors) {
    ::posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
  }
  void start_in(const std::filesystem::path& folder) {
    ::posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
  }
  /// Detaches it from the terminal and resets blocked and ignored signals.
  void detach() {
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(
        &attributes_,
        static_cast<short>(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }
  /// @return  an errno, or 0
  int spawn(pid_t& pid, const Command& command) {
    std::vector<char*> argv;
    for (const auto& word : command.argv) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    std::vector<std::string> variables;
    for (const auto& [name, value] : command.environment) variables.push_back(name + '=' + value);
    std::vector<char*> environment;
    for (auto& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    return ::posix_spawn(&pid, argv[0], &actions_, &attributes_, argv.data(), environment.data());
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

/// Moves it above the standard descriptors, which are overwritten in the child.
Fd above_standard(Fd fd) {
  if (fd.get() > STDERR_FILENO) return fd;
  return Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

void make_non_blocking(const Fd& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

/// A started program and our ends of its pipes. It has ended when its first process has; the rest
/// of its process group is killed then, and a descendant outside the group is not waited for.
class RunningProgram : public RunningCommand {
 public:
  explicit RunningProgram(const Command& command) : started_(steady_clock::now()) {
    Pipe in = make_pipe();
    Pipe out = make_pipe();
    Pipe errors = make_pipe();
    const Fd input = above_standard(std::move(in.read));
    const Fd output = above_standard(std::move(out.write));
    const Fd error_output = above_standard(std::move(errors.write));
    SpawnPlan plan;
    plan.use_descriptors(input.get(), output.get(), error_output.get());
    plan.start_in(command.workdir);
    plan.detach();
    if (const int problem = plan.spawn(pid_, command); problem != 0) {
      status_ = {.ending = Ending::not_started, .code = problem, .detail = errno_text(problem)};
      return;
    }
    process_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    input_ = std::move(in.write);
    output_ = std::move(out.read);
    errors_ = std::move(errors.read);
    for (const Fd* fd : {&input_, &output_, &errors_}) make_non_blocking(*fd);
  }
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;
  ~RunningProgram() override { end(Ending::cancelled); }

  const Fd& output() const override { return output_; }
  Fd& input() override { return input_; }
  const Fd& errors() const override { return errors_; }
  int ended_descriptor() const override { return process_.get(); }

  std::optional<ExitStatus> status() override {
    if (status_) return status_;
    siginfo_t info{};
    // Left unreaped, so that its pid can't be reused before the group is killed.
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
      if (errno != ECHILD) return std::nullopt;
    } else if (info.si_pid == 0) {
      return std::nullopt;
    }
    const bool signalled = info.si_pid != 0 && info.si_code != CLD_EXITED;
    finish({.ending = signalled ? Ending::signalled : Ending::exited, .code = info.si_status});
    return status_;
  }

  void ask_to_end() override {
    if (!status_) ::kill(-pid_, SIGTERM);
  }
  void end(Ending why) override {
    if (!status_) finish({.ending = why});
  }

 private:
  void finish(ExitStatus status) {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);  // before setsid(2) it is in no group of its own
    const auto until = steady_clock::now() + kKillWait;
    while (::waitpid(pid_, nullptr, WNOHANG) == 0 && steady_clock::now() < until)
      ::poll(nullptr, 0, 1);
    status_ = std::move(status);
    status_->duration = std::chrono::duration_cast<milliseconds>(steady_clock::now() - started_);
  }

  steady_clock::time_point started_;
  pid_t pid_ = -1;
  Fd process_;
  Fd input_;
  Fd output_;
  Fd errors_;
  std::optional<ExitStatus> status_;
};

/// Starts programs outside the sandbox.
class OperatorLauncher : public Launcher {
 public:
  std::unique_ptr<RunningCommand> start(const Command& command) override {
    return std::make_unique<RunningProgram>(command);
  }
};

}  // namespace

OperatorProgramEnd run_operator_program(const OperatorProgram& program, std::stop_token stop) {
  OperatorProgramEnd end;
  if (program.argv.empty() || program.argv[0].empty()) {
    end.exit = {.ending = Ending::not_started, .code = ENOENT, .detail = "it has no name"};
    return end;
  }
  if (program.timeout <= milliseconds(0)) {
    end.exit.ending = Ending::timed_out;  // if started, it could end before the first check
    return end;
  }
  const auto take_errors = [&](std::string_view text) {
    const std::size_t room = program.max_errors - end.errors.size();
    end.errors += text.substr(0, room);
    end.errors_cut = end.errors_cut || text.size() > room;
  };
  OperatorLauncher launcher;
  end.exit = run_command(launcher,
                         {.argv = program.argv,
                          .workdir = program.workdir,
                          .environment = program.environment,
                          .timeout = program.timeout,
                          .max_output_bytes = program.max_output,
                          .input = CommandInput::pipe,
                          .errors_apart = true},
                         {.output = [&](std::string_view text) { end.output += text; },
                          .errors = take_errors,
                          .input = program.input,
                          .errors_count = false},
                         std::move(stop));
  return end;
}

}  // namespace sortie
