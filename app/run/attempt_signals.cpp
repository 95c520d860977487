#include "app/run/attempt_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include "core/base/error.h"

namespace sortie {

AttemptSignals::AttemptSignals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGCHLD);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
      sigaddset(&wanted, signal);
  }
  ::sigprocmask(SIG_BLOCK, &wanted, &before_);
  signals_ = Fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) throw system_error("signalfd", ExitCode::environment);
}

AttemptSignals::~AttemptSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

int AttemptSignals::take() const {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info))
    if (info.ssi_signo != SIGCHLD) return static_cast<int>(info.ssi_signo);
  return 0;
}

}  // namespace sortie
