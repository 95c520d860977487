#include "app/run/signals.h"

#include <pthread.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <string_view>

#include "core/base/exit_code.h"

namespace sortie {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::string_view kOverTime =
    "sortie: budget (4): the time is over and the run was blocked; it was ended at once; next: "
    "--timeout with more time\n";

/// Waits for one of the signals; returns -1 at the time, or spuriously.
int wait_until(const sigset_t& set, SteadyClock::time_point end) noexcept {
  if (end == SteadyClock::time_point::max()) return ::sigwaitinfo(&set, nullptr);
  const auto left = std::max(end - SteadyClock::now(), SteadyClock::duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec time{static_cast<time_t>(seconds.count()),
                      static_cast<long>(std::chrono::nanoseconds(left - seconds).count())};
  return ::sigtimedwait(&set, nullptr, &time);
}

bool is_ignored(int signal) noexcept {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

/// The signals to stop that the caller does not ignore.
sigset_t stop_signals() noexcept {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (!is_ignored(signal)) sigaddset(&set, signal);
  return set;
}

sigset_t waited_for() noexcept {
  sigset_t set = stop_signals();
  sigaddset(&set, SIGUSR2);
  return set;
}

/// SIGHUP (a closed terminal) is an order to end like SIGTERM.
int exit_status(int signal) noexcept { return signal == SIGINT ? 130 : 143; }

/// Async-signal-safe.
[[noreturn]] void end_with(std::string_view line, int status) noexcept {
  const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  static_cast<void>(written);  // there is nobody left to tell
  ::_exit(status);
}

/// The last line of a process that ends now. Async-signal-safe.
[[noreturn]] void end_told(int signal, std::string_view how) noexcept {
  char line[160];
  std::size_t used = 0;
  const auto add = [&](std::string_view text) {
    for (const char c : text)
      if (used < sizeof line) line[used++] = c;
  };
  add(signal == SIGINT ? "sortie: interrupted (130): " : "sortie: interrupted (143): ");
  add("stopped by ");
  add(signal_name(signal));
  add(how);
  add("; next: the same command again\n");
  end_with({line, used}, exit_status(signal));
}

/// Of EndsWithProcess; -1: none.
volatile std::sig_atomic_t child_to_end = -1;
volatile std::sig_atomic_t parent_of_child = -1;  ///< a process that it forks has no such child
static_assert(sizeof(std::sig_atomic_t) >= sizeof(pid_t));

extern "C" void end_at_once(int signal) {
  if (const pid_t child = child_to_end; child > 0 && parent_of_child == ::getpid()) {
    ::kill(child, SIGKILL);
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  end_told(signal, ", before the work began");
}

[[noreturn]] void end_blocked_process(int signal) noexcept {
  end_told(signal, "; it was blocked, and ended at once");
}

/// Ticks since a signal was first seen; at one per second, the process ends within 5 s.
constexpr int kMostTicks = 4;
volatile std::sig_atomic_t ticks_held = 0;

/// The signals stay blocked, and with that the processes that are started meanwhile are as they are
/// otherwise: no timer is theirs.
extern "C" void look_for_held(int /*alarm*/) {
  sigset_t pending;
  if (::sigpending(&pending) != 0) return;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (sigismember(&pending, signal) != 1) continue;
    ticks_held = ticks_held + 1;
    if (ticks_held >= kMostTicks) end_blocked_process(signal);
    return;
  }
}

void look_each(int seconds) noexcept {
  const itimerval often{.it_interval = {seconds, 0}, .it_value = {seconds, 0}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
}

/// Whether a terminal or a shell's job control sends the signal: those stay ignored.
bool is_job_control_signal(int signal) noexcept {
  for (const int one : {SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU})
    if (signal == one) return true;
  return false;
}

}  // namespace

const char* signal_name(int signal) noexcept {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "a signal";
  }
}

void set_up_signals() noexcept {
  for (int number = 1; number < NSIG; ++number)
    if (!is_job_control_signal(number))
      ::signal(number, SIG_DFL);  // of SIGKILL and the like: no effect
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    if (!is_ignored(number)) ::signal(number, end_at_once);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

DeferredSignals::DeferredSignals() noexcept {
  const sigset_t set = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
}
DeferredSignals::~DeferredSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

EndsWithProcess::EndsWithProcess(pid_t child) noexcept {
  parent_of_child = ::getpid();
  child_to_end = child;
}
EndsWithProcess::~EndsWithProcess() { child_to_end = -1; }

HeldSignals::HeldSignals() noexcept {
  const sigset_t set = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  ticks_held = 0;
  struct sigaction look {};
  look.sa_handler = look_for_held;
  look.sa_flags = SA_RESTART;
  ::sigaction(SIGALRM, &look, nullptr);
  look_each(1);
}

Signals::Signals(std::chrono::milliseconds patience) : patience_(patience) {
  look_each(0);
  const sigset_t set = waited_for();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const sigset_t stops = stop_signals();
  const timespec at_once{};
  if (const int held = ::sigtimedwait(&stops, nullptr, &at_once); held > 0) ask_to_stop(held);
  waiter_ = std::thread([this] { wait(); });
}

Signals::~Signals() {
  done_ = true;
  ::pthread_kill(waiter_.native_handle(), SIGUSR2);  // only wakes sigwait
  waiter_.join();
}

void Signals::end_at(SteadyClock::time_point when) noexcept {
  ends_ = when;
  ::pthread_kill(waiter_.native_handle(), SIGUSR2);  // it has another time to wait for
}

SteadyClock::time_point Signals::next_end() const noexcept {
  return std::min(stop_ends_.load(), ends_.load());
}

void Signals::wait() {
  const sigset_t set = waited_for();
  for (;;) {
    const int signal = wait_until(set, next_end());
    if (done_) return;
    if (signal <= 0) {
      const auto now = SteadyClock::now();
      if (now >= stop_ends_.load()) end_blocked_process(received_);
      if (now >= ends_.load()) end_with(kOverTime, static_cast<int>(ExitCode::budget));
      continue;
    }
    if (signal == SIGUSR2) continue;
    if (received_.load() == 0)
      ask_to_stop(signal);
    else if (SteadyClock::now() >= second_counts_)
      end_told(signal, ", the second signal, at once");
  }
}

void Signals::ask_to_stop(int signal) {
  received_ = signal;
  const auto now = SteadyClock::now();
  second_counts_ = now + kTogether;
  stop_ends_ = now + patience_;
  stop_.request_stop();
}

}  // namespace sortie
