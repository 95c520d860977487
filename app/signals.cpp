#include "app/signals.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>

namespace sortie {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR2}) sigaddset(&set, signal);
  return set;
}

/// SIGHUP (a closed terminal) is an order to end like SIGTERM.
int exit_status(int signal) noexcept { return signal == SIGINT ? 130 : 143; }

}  // namespace

Signals::Signals() {
  const sigset_t set = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  waiter_ = std::thread([this] { wait(); });
}

Signals::~Signals() {
  done_ = true;
  ::pthread_kill(waiter_.native_handle(), SIGUSR2);  // only wakes sigwait
  waiter_.join();
}

void Signals::wait() {
  const sigset_t set = stop_signals();
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
