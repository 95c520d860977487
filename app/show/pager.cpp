#include "app/show/pager.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "app/show/standard_output.h"
#include "core/base/own_variable.h"
#include "core/base/patient_io.h"
#include "core/text/ci_commands.h"

namespace sortie {
namespace {

bool stdout_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }

/// Writes it all, however slow the reader is: a person at a terminal.
bool write_whole(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

bool colors_on_stdout(const std::string& wanted) {
  if (wanted != "auto") return wanted == "always";
  const std::string terminal = own_variable("TERM");
  return stdout_is_terminal() && !terminal.empty() && terminal != "dumb" &&
         own_variable("NO_COLOR").empty();
}

std::size_t columns_of_stdout() {
  struct winsize size {};
  if (!stdout_is_terminal() || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

bool stdout_is_unread() {
  pollfd out{STDOUT_FILENO, 0, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}

Pager::Pager(bool wanted) {
  if (!wanted || !stdout_is_terminal()) return;
  const std::string own = own_variable("PAGER");
  if (own != "cat") start(own.empty() ? "less -R" : own);
}

void Pager::start(const std::string& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  Fd output(ends[0]);
  Fd input(ends[1]);
  // Those who page know what they do; others get a pager that ends by itself where one page is enough.
  ::setenv("LESS", "FRX", 0);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::signal(SIGPIPE, SIG_DFL);
    ::dup2(output.get(), STDIN_FILENO);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  if (pid_ < 0) return;
  // Ctrl-C is the pager's: it ends a search there.
  ::signal(SIGINT, SIG_IGN);
  input_ = std::move(input);
}

bool Pager::write(std::string_view text) {
  const std::string harmless = without_ci_commands(text, ci_systems());
  if (!input_ && !stdout_is_terminal()) {
    const int number = write_within(STDOUT_FILENO, harmless);
    if (number != 0 && number != EPIPE) throw stdout_error(number);
    return number == 0;
  }
  return write_whole(input_ ? input_.get() : STDOUT_FILENO, harmless);
}

Pager::~Pager() {
  input_ = Fd();
  if (pid_ <= 0) return;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace sortie
