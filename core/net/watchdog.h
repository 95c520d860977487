#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "core/base/fd.h"
#include "core/net/http.h"

namespace sortie {

/// Interrupts blocking calls: at a time limit, or on a stop request, it shuts the watched socket
/// down, so that a read, write or TLS handshake on it returns at once.
///
/// The socket's own timeouts are no substitute: they restart with each byte, and twice under TLS.
/// One thread, started with the first exchange and kept.
class Watchdog {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Ending = HttpResult::Ending;

  Watchdog() = default;
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  /// Begins an exchange that may last until `total`.
  void begin(Time total);
  /// Ends it: nothing is shut down any more.
  void end();
  /// The socket to shut down; -1 for none. If it has fired already, it shuts the socket down at once.
  void watch(int descriptor);
  /// The limit of the exchange's present phase, in place of the one before.
  void limit(Time when, Ending ending);
  /// Fires now; callable from any thread.
  void stop();

  /// What fired, or nothing.
  std::optional<Ending> fired() const;
  /// Readable once it has fired: for poll(2).
  int alarm() const noexcept { return alarm_.get(); }
  Time limit() const;

 private:
  void run();
  void fire(Ending ending);  // with mutex_ held

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
  Fd alarm_;
  bool quit_ = false;
  bool active_ = false;
  int descriptor_ = -1;
  Time total_{};
  Time phase_{};
  Ending phase_ending_ = Ending::total_timeout;
  std::optional<Ending> fired_;
};

}  // namespace sortie
