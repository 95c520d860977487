#pragma once

#include <vector>

#include "core/base/clock.h"

namespace sortie::test {

/// Time that moves only when someone sleeps, or a test sets it.
class FakeClock : public Clock {
 public:
  std::chrono::system_clock::time_point wall{std::chrono::seconds(1'800'000'000)};
  std::chrono::steady_clock::time_point monotonic{std::chrono::hours(1)};
  std::vector<std::chrono::milliseconds> sleeps;

  std::chrono::system_clock::time_point now() const override { return wall; }
  std::chrono::steady_clock::time_point steady() const override { return monotonic; }
  bool sleep_for(std::chrono::milliseconds duration, std::stop_token stop) override {
    sleeps.push_back(duration);
    wall += duration;
    monotonic += duration;
    return !stop.stop_requested();
  }
};

}  // namespace sortie::test
