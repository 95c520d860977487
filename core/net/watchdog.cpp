#include "core/net/watchdog.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/error.h"

namespace sortie {

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::begin(Time total) {
  if (!alarm_) {
    alarm_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!alarm_) throw system_error("eventfd");
  }
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  [[maybe_unused]] const auto drained = ::read(alarm_.get(), &count, sizeof count);
  active_ = true;
  descriptor_ = -1;
  total_ = phase_ = total;
  phase_ending_ = Ending::total_timeout;
  fired_.reset();
  if (!thread_.joinable()) {
    // Signals are for the main thread: one that interrupted this wait would do nothing.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  changed_.notify_one();
}

void Watchdog::end() {
  const std::lock_guard lock(mutex_);
  active_ = false;
  descriptor_ = -1;
}

void Watchdog::watch(int descriptor) {
  const std::lock_guard lock(mutex_);
  descriptor_ = descriptor;
  if (fired_ && descriptor_ >= 0) ::shutdown(descriptor_, SHUT_RDWR);
}

void Watchdog::limit(Time when, Ending ending) {
  const std::lock_guard lock(mutex_);
  const bool earlier = when < phase_;
  phase_ = when;
  phase_ending_ = ending;
  // A later limit needs no waking: the thread looks again when the old one is reached.
  if (earlier) changed_.notify_one();
}

void Watchdog::stop() {
  const std::lock_guard lock(mutex_);
  if (active_) fire(Ending::stopped);
}

std::optional<Watchdog::Ending> Watchdog::fired() const {
  const std::lock_guard lock(mutex_);
  return fired_;
}

Watchdog::Time Watchdog::limit() const {
  const std::lock_guard lock(mutex_);
  return std::min(phase_, total_);
}

void Watchdog::fire(Ending ending) {
  if (fired_) return;
  fired_ = ending;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(alarm_.get(), &one, sizeof one);
  if (descriptor_ >= 0) ::shutdown(descriptor_, SHUT_RDWR);
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!quit_) {
    if (!active_ || fired_) {
      changed_.wait(lock);
      continue;
    }
    const Time next = std::min(phase_, total_);
    if (std::chrono::steady_clock::now() >= next)
      fire(phase_ <= total_ ? phase_ending_ : Ending::total_timeout);
    else
      changed_.wait_until(lock, next);
  }
}

}  // namespace sortie
