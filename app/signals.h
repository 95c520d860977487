#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace sortie {

/// Sets what signals do as the program needs it, whatever the caller left: nothing blocked, SIGCHLD
/// as usual, SIGPIPE and SIGXFSZ ignored (they are errors of a write then). SIGINT and SIGHUP that
/// the caller ignores (nohup(1), jobs in the background) stay ignored. Until there are Signals, a
/// signal to stop ends the process at once with 130 or 143. Call it first of all.
void set_up_signals() noexcept;

/// From here on a signal to stop waits for Signals to be made: what it would end half-way is under
/// way.
class HeldSignals {
 public:
  HeldSignals() noexcept;
};

/// Turns SIGINT, SIGTERM and SIGHUP into a stop request; a second one ends the process at once
/// (the keeper then ends all commands, since its socket closes).
///
/// The signals are blocked in the thread that makes this object and in those it starts later, so
/// that no system call of theirs is interrupted; a thread of its own waits for them. Make it after
/// the keeper was forked: that needs a process with a single thread. One that came while they were
/// held is a stop request from the start.
class Signals {
 public:
  Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  std::stop_token token() const noexcept { return stop_.get_token(); }
  /// The signal that asked to stop, 0 for none.
  int received() const noexcept { return received_.load(); }

 private:
  void wait();

  std::stop_source stop_;
  std::atomic<int> received_{0};
  std::atomic<bool> done_{false};
  std::thread waiter_;
};

}  // namespace sortie
