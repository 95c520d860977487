#include "app/signals.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

namespace sortie {
namespace {

bool is_ignored(int signal) noexcept {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

/// Those that the caller does not ignore.
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

extern "C" void end_at_once(int signal) {
  constexpr char kInterrupted[] = "sortie: interrupted (130): by SIGINT, before the work began\n";
  constexpr char kTerminated[] = "sortie: interrupted (143): by a signal, before the work began\n";
  const ssize_t written = signal == SIGINT
                              ? ::write(STDERR_FILENO, kInterrupted, sizeof kInterrupted - 1)
                              : ::write(STDERR_FILENO, kTerminated, sizeof kTerminated - 1);
  static_cast<void>(written);  // there is nobody left to tell
  ::_exit(exit_status(signal));
}

/// What only a terminal or a shell's job control sends: an ignored one is meant to be.
bool is_the_callers(int signal) noexcept {
  for (const int one : {SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU})
    if (signal == one) return true;
  return false;
}

}  // namespace

void set_up_signals() noexcept {
  for (int number = 1; number < NSIG; ++number)
    if (!is_the_callers(number)) ::signal(number, SIG_DFL);  // of SIGKILL and the like: no effect
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    if (!is_ignored(number)) ::signal(number, end_at_once);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

HeldSignals::HeldSignals() noexcept {
  const sigset_t set = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Signals::Signals() {
  const sigset_t set = waited_for();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const sigset_t stops = stop_signals();
  const timespec at_once{};
  if (const int held = ::sigtimedwait(&stops, nullptr, &at_once); held > 0) {
    received_ = held;
    stop_.request_stop();
  }
  waiter_ = std::thread([this] { wait(); });
}

Signals::~Signals() {
  done_ = true;
  ::pthread_kill(waiter_.native_handle(), SIGUSR2);  // only wakes sigwait
  waiter_.join();
}

void Signals::wait() {
  const sigset_t set = waited_for();
  for (;;) {
    int signal = 0;
    if (::sigwait(&set, &signal) != 0) continue;
    if (done_) return;
    if (signal == SIGUSR2) continue;
    if (received_.exchange(signal) != 0) ::_exit(exit_status(signal));
    stop_.request_stop();
  }
}

}  // namespace sortie
