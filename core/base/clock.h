#pragma once

#include <chrono>
#include <stop_token>
#include <string>

namespace sortie {

/// The time of day, a monotonic time, and waiting.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::chrono::system_clock::time_point now() const = 0;
  virtual std::chrono::steady_clock::time_point steady() const = 0;
  /// Returns early, with false, once a stop is requested.
  virtual bool sleep_for(std::chrono::milliseconds duration, std::stop_token stop) = 0;
};

class SystemClock : public Clock {
 public:
  std::chrono::system_clock::time_point now() const override;
  std::chrono::steady_clock::time_point steady() const override;
  bool sleep_for(std::chrono::milliseconds duration, std::stop_token stop) override;
};

/// UTC with milliseconds: "2026-11-21T03:14:15.926Z" (RFC 3339).
std::string utc_timestamp(std::chrono::system_clock::time_point time);

/// A time limit for a message: "10 s"; "1500 ms" if it is not a whole number of seconds.
std::string limit_text(std::chrono::milliseconds limit);

inline std::chrono::milliseconds to_ms(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration);
}

}  // namespace sortie
