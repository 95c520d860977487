#include "tests/policies/sandbox/fork_launcher.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/error.h"
#include "policies/sandbox/canary.h"

namespace sortie::test {
namespace {

class ForkedCommand : public RunningCommand {
 public:
  ForkedCommand(pid_t child, Fd output)
      : child_(child),
        handle_(static_cast<int>(::syscall(SYS_pidfd_open, child, 0))),
        output_(std::move(output)) {}
  ~ForkedCommand() override {
    if (status_) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  const Fd& output() const override { return output_; }
  Fd& input() override { return none_; }
  const Fd& errors() const override { return none_; }
  int ended_descriptor() const override { return handle_.get(); }
  std::optional<ExitStatus> status() override {
    int status = 0;
    if (!status_ && ::waitpid(child_, &status, WNOHANG) == child_) {
      status_ = WIFSIGNALED(status) ? ExitStatus{Ending::signalled, WTERMSIG(status)}
                                    : ExitStatus{Ending::exited, WEXITSTATUS(status)};
    }
    return status_;
  }
  void ask_to_end() override { ::kill(child_, SIGTERM); }
  void end(Ending) override { ::kill(child_, SIGKILL); }

 private:
  pid_t child_;
  Fd handle_;
  Fd output_;
  Fd none_;
  std::optional<ExitStatus> status_;
};

[[noreturn]] void become_canary(const Command& command, int output,
                                const std::function<int()>& prepare) {
  std::vector<std::string> arguments = command.argv;
  std::vector<std::string> variables;
  for (const auto& [name, value] : command.environment) variables.push_back(name + "=" + value);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  argv.push_back(nullptr);
  environment.push_back(nullptr);
  ::close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);  // what the test program itself was started with
  ::dup2(output, 1);
  ::dup2(output, 2);
  if (::chdir(command.workdir.c_str()) != 0 || prepare() != 0) ::_exit(124);
  environ = environment.data();
  ::_exit(canary_main(static_cast<int>(arguments.size()), argv.data()));
}

}  // namespace

std::unique_ptr<RunningCommand> ForkLauncher::start(const Command& command) {
  Pipe output = make_pipe();
  ::fcntl(output.read.get(), F_SETFL, O_NONBLOCK);
  const pid_t child = ::fork();
  if (child < 0) throw system_error("fork");
  if (child == 0) become_canary(command, output.write.get(), prepare_);
  return std::make_unique<ForkedCommand>(child, std::move(output.read));
}

}  // namespace sortie::test
