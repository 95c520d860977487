#pragma once

#include <string>

#include "core/rates/boot_time.h"
#include "core/rates/rate_state.h"
#include "tests/fakes/fake_clock.h"

namespace sortie::test {

/// A machine that was started when the test says so.
class FakeBootTime : public BootTime {
 public:
  std::chrono::nanoseconds time = std::chrono::hours(1);
  std::string id = "0f4c5a1e-one";

  std::chrono::nanoseconds now() const override { return time; }
  std::string boot() const override { return id; }
};

/// A state in memory, whose time is that of a clock.
class MemoryRateStore : public RateStore {
 public:
  explicit MemoryRateStore(const FakeClock& clock) : clock_(clock) {}
  RateState state;
  int changes = 0;

  void change(const Step& step) override {
    ++changes;
    step(state, clock_.steady().time_since_epoch());
  }

 private:
  const FakeClock& clock_;
};

}  // namespace sortie::test
