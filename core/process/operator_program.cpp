#include "core/process/operator_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "core/base/error.h"
#include "core/base/fd.h"

namespace sortie {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kKillWait{2000};

/// What posix_spawn(3) is to do, freed at its end.
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
  /// No terminal, and no signal blocked or ignored because sortie does so.
  void be_on_its_own() {
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
  int spawn(pid_t& pid, const OperatorProgram& program) {
    std::vector<char*> argv;
    for (const auto& word : program.argv) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    std::vector<std::string> variables;
    for (const auto& [name, value] : program.environment) variables.push_back(name + '=' + value);
    std::vector<char*> environment;
    for (auto& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    return ::posix_spawn(&pid, argv[0], &actions_, &attributes_, argv.data(), environment.data());
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

/// Not one of the standard descriptors: they would be overwritten while they are handed over.
Fd above_standard(Fd fd) {
  if (fd.get() > STDERR_FILENO) return fd;
  return Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

void make_non_blocking(const Fd& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

/// A started program and our ends of its pipes.
class Conversation {
 public:
  Conversation(const OperatorProgram& program, std::stop_token stop)
      : program_(program), stop_(std::move(stop)) {}

  OperatorProgramEnd run() {
    const auto started = steady_clock::now();
    deadline_ = started + program_.timeout;
    if (start()) {
      converse();
      end_group();
      drain();
    }
    end_.exit.duration = std::chrono::duration_cast<milliseconds>(steady_clock::now() - started);
    return std::move(end_);
  }

 private:
  bool start() {
    Pipe in = make_pipe();
    Pipe out = make_pipe();
    Pipe errors = make_pipe();
    const Fd input = above_standard(std::move(in.read));
    const Fd output = above_standard(std::move(out.write));
    const Fd error_output = above_standard(std::move(errors.write));
    SpawnPlan plan;
    plan.use_descriptors(input.get(), output.get(), error_output.get());
    plan.start_in(program_.workdir);
    plan.be_on_its_own();
    if (const int problem = plan.spawn(pid_, program_); problem != 0) {
      end_.exit = {.ending = Ending::not_started, .code = problem, .detail = errno_text(problem)};
      return false;
    }
    input_ = std::move(in.write);
    output_ = std::move(out.read);
    errors_ = std::move(errors.read);
    for (const Fd* fd : {&input_, &output_, &errors_}) make_non_blocking(*fd);
    return true;
  }

  /// Until its first process has ended, the time is up, or there is too much of an answer.
  void converse() {
    const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    const Fd stopped(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    const std::stop_callback wake(stop_, [&stopped] {
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = ::write(stopped.get(), &one, sizeof one);
    });
    for (;;) {
      const auto left = std::chrono::ceil<milliseconds>(deadline_ - steady_clock::now());
      if (left.count() <= 0) return end_by(Ending::timed_out);
      if (stop_.stop_requested()) return end_by(Ending::cancelled);
      // A kernel without pidfd_open is asked in short steps instead.
      const auto wait = process ? left : std::min(left, milliseconds(20));
      std::array<pollfd, 5> events = {{{process.get(), POLLIN, 0},
                                       {stopped.get(), POLLIN, 0},
                                       {output_.get(), POLLIN, 0},
                                       {errors_.get(), POLLIN, 0},
                                       {input_.get(), POLLOUT, 0}}};
      ::poll(events.data(), events.size(),
             static_cast<int>(std::min<std::int64_t>(wait.count(), 1 << 30)));
      if (events[4].revents != 0) write_some();
      if (events[3].revents != 0) read_errors();
      if (events[2].revents != 0) read_output();
      if (end_.output.size() > program_.max_output) return end_by(Ending::output_limit);
      if (events[0].revents != 0 || !process) {
        if (has_ended()) return;
      }
    }
  }

  void write_some() {
    const std::string_view rest = std::string_view(program_.input).substr(written_);
    const ssize_t count = rest.empty() ? 0 : ::write(input_.get(), rest.data(), rest.size());
    if (count > 0) written_ += static_cast<std::size_t>(count);
    const bool broken = count < 0 && errno != EAGAIN && errno != EINTR;
    // It need not read what it is told.
    if (broken || written_ == program_.input.size()) input_.reset();
  }

  /// @return  false at the end of the stream, or where nothing is there now
  static bool read_some(Fd& fd, std::string& to) {
    std::array<char, 4096> buffer;
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count > 0) to.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) fd.reset();
    return count > 0;
  }

  bool read_output() { return read_some(output_, end_.output); }

  bool read_errors() {
    const bool some = read_some(errors_, end_.errors);
    if (end_.errors.size() > program_.max_errors) {
      end_.errors.resize(program_.max_errors);
      end_.errors_cut = true;
    }
    return some;
  }

  bool has_ended() {
    siginfo_t info{};
    // Left unreaped, so that its number can't be another's when the group is killed.
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
      return errno == ECHILD;
    if (info.si_pid == 0) return false;
    end_.exit.ending = info.si_code == CLD_EXITED ? Ending::exited : Ending::signalled;
    end_.exit.code = info.si_status;
    return true;
  }

  void end_by(Ending ending) { end_.exit.ending = ending; }

  void end_group() {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);  // before setsid(2) it has no group of its own
    const auto until = steady_clock::now() + kKillWait;
    while (::waitpid(pid_, nullptr, WNOHANG) == 0 && steady_clock::now() < until)
      ::poll(nullptr, 0, 1);
  }

  /// What it had written before it ended; nobody else's words are waited for.
  void drain() {
    while (output_ && end_.output.size() <= program_.max_output && read_output()) {
    }
    for (int reads = 0; errors_ && reads < 64 && read_errors(); ++reads) {
    }
    if (end_.exit.ending == Ending::exited && end_.output.size() > program_.max_output)
      end_by(Ending::output_limit);
  }

  const OperatorProgram& program_;
  std::stop_token stop_;
  steady_clock::time_point deadline_;
  pid_t pid_ = -1;
  Fd input_;
  Fd output_;
  Fd errors_;
  std::size_t written_ = 0;
  OperatorProgramEnd end_;
};

}  // namespace

OperatorProgramEnd run_operator_program(const OperatorProgram& program, std::stop_token stop) {
  if (program.argv.empty() || program.argv[0].empty()) {
    OperatorProgramEnd end;
    end.exit = {.ending = Ending::not_started, .code = ENOENT, .detail = "it has no name"};
    return end;
  }
  return Conversation(program, std::move(stop)).run();
}

}  // namespace sortie
