#include "app/run/attempt_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "app/run/signals.h"
#include "app/show/standard_output.h"
#include "core/base/error.h"
#include "core/base/unnamed_file.h"
#include "core/files/files.h"

namespace sortie {
namespace {

/// The most of a line that is waited for.
constexpr std::size_t kMostOfBegun = 64u << 10;

Fd events_file(const std::filesystem::path& folder) {
  Fd file = unnamed_file(folder);
  if (!file) throw path_error(folder.string(), errno);
  return file;
}

}  // namespace

AttemptProcess::AttemptProcess(int number, const std::filesystem::path& folder,
                               const std::function<ExitCode()>& work)
    : number_(number), events_(events_file(folder)) {
  Pipe pipe = make_pipe();
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw system_error("fork", ExitCode::environment);
  if (pid_ == 0) work_in_child(parent, pipe.write.get(), work);
  lines_ = std::move(pipe.read);
  ::fcntl(lines_.get(), F_SETFL, O_RDONLY | O_NONBLOCK);
}

/// Its commands end with it: the keeper sees that its socket is closed.
void AttemptProcess::work_in_child(pid_t parent, int lines, const std::function<ExitCode()>& work) {
  ExitCode code = ExitCode::internal;
  try {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(static_cast<int>(ExitCode::terminated));
    set_up_signals();
    if (::dup2(lines, STDERR_FILENO) < 0 || ::dup2(events_.get(), STDOUT_FILENO) < 0)
      throw system_error("dup2");
    code = work();
  } catch (const Error& error) {
    print_error("sortie: " + std::string(error.what()) + "\n");
    code = error.code();
  } catch (const std::exception& error) {
    print_error("sortie: " + std::string(error.what()) + "\n");
  }
  ::_exit(static_cast<int>(code));
}

AttemptProcess::~AttemptProcess() {
  if (!runs()) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, &status_, 0);
}

void AttemptProcess::signal(int number) const noexcept {
  if (runs()) ::kill(pid_, number);
}

bool AttemptProcess::reap() {
  if (!runs()) return true;
  rusage used{};
  if (::wait4(pid_, &status_, WNOHANG, &used) != pid_) return false;
  peak_ = static_cast<std::uint64_t>(used.ru_maxrss) << 10;
  pid_ = -1;
  return true;
}

std::optional<ExitCode> AttemptProcess::code() const {
  if (runs() || !WIFEXITED(status_)) return std::nullopt;
  return static_cast<ExitCode>(WEXITSTATUS(status_));
}

std::string AttemptProcess::killed_by() const {
  if (runs() || !WIFSIGNALED(status_)) return "";
  const int number = WTERMSIG(status_);
  return "signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
}

std::string AttemptProcess::take_lines() {
  char buffer[16384];
  std::string text = std::exchange(begun_, {});
  for (;;) {
    const ssize_t count = ::read(lines_.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  const std::size_t end = text.rfind('\n') + 1;  // 0 without one
  begun_ = text.substr(end);
  text.resize(end);
  if (!begun_.empty() && (!runs() || begun_.size() > kMostOfBegun)) {
    text += begun_ + "\n";
    begun_.clear();
  }
  return text;
}

}  // namespace sortie
