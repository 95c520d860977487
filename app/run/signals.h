#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <stop_token>
#include <thread>

namespace sortie {

/// Sets the signal dispositions, whatever the caller left: nothing blocked, SIGCHLD as usual, SIGPIPE
/// and SIGXFSZ ignored (so that writes return errors). SIGINT and SIGHUP that the caller ignores
/// (nohup(1), jobs in the background) stay ignored. Until there are Signals, a signal to stop ends
/// the process at once with 130 or 143. Call it first.
void set_up_signals() noexcept;

/// While it lives, signals to stop wait. Short, and with a single thread: a child is made and told to
/// EndsWithProcess, say.
class DeferredSignals {
 public:
  DeferredSignals() noexcept;
  DeferredSignals(const DeferredSignals&) = delete;
  DeferredSignals& operator=(const DeferredSignals&) = delete;
  ~DeferredSignals();

 private:
  sigset_t before_;
};

/// While it lives, a signal that ends the process at once ends this child before, and reaps it: a
/// container's process 1 may not. Once there are HeldSignals, it is of no effect.
class EndsWithProcess {
 public:
  /// @param child  -1 for none
  explicit EndsWithProcess(pid_t child) noexcept;
  EndsWithProcess(const EndsWithProcess&) = delete;
  EndsWithProcess& operator=(const EndsWithProcess&) = delete;
  ~EndsWithProcess();
};

/// "SIGTERM"
const char* signal_name(int signal) noexcept;

/// Holds back signals to stop until Signals is made, since work has begun that must not be left half
/// done. If that takes longer than 5 s from the signal on, the process ends at once with 130 or 143:
/// it may be blocked in a library. Uses SIGALRM, once a second.
class HeldSignals {
 public:
  HeldSignals() noexcept;
};

/// Turns SIGINT, SIGTERM and SIGHUP into a stop request; a second one ends the process at once
/// (the keeper then ends all commands, since its socket closes). Signals that come together count
/// once: timeout(1) sends its signal to the process and then to its group, and a terminal and a
/// wrapper that forwards signals send one each.
///
/// The signals are blocked in the thread that makes this object and in those it starts later, so
/// that no system call of theirs is interrupted; a thread of its own waits for them. Make it after
/// the keeper was forked: that needs a process with a single thread. One that came while they were
/// held is a stop request from the start.
///
/// A process that has not ended 30 s after the stop request is ended at once, with the same code:
/// it may be blocked in a library, which does not see stop requests.
class Signals {
 public:
  static constexpr std::chrono::seconds kPatience{30};
  /// Signals within this time after the first one count as one.
  static constexpr std::chrono::milliseconds kTogether{500};

  explicit Signals(std::chrono::milliseconds patience = kPatience);
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  std::stop_token token() const noexcept { return stop_.get_token(); }
  /// The signal that asked to stop, 0 for none.
  int received() const noexcept { return received_.load(); }
  /// The process ends at once at this time, with ExitCode::budget. Replaces an earlier time.
  void end_at(std::chrono::steady_clock::time_point when) noexcept;
  void never_end() noexcept { end_at(std::chrono::steady_clock::time_point::max()); }

 private:
  void wait();
  void ask_to_stop(int signal);
  std::chrono::steady_clock::time_point next_end() const noexcept;

  const std::chrono::milliseconds patience_;
  std::atomic<std::chrono::steady_clock::time_point> stop_ends_{
      std::chrono::steady_clock::time_point::max()};
  std::atomic<std::chrono::steady_clock::time_point> ends_{
      std::chrono::steady_clock::time_point::max()};
  std::chrono::steady_clock::time_point second_counts_{};  ///< from then on
  std::stop_source stop_;
  std::atomic<int> received_{0};
  std::atomic<bool> done_{false};
  std::thread waiter_;
};

}  // namespace sortie
