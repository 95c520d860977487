#pragma once

#include <chrono>
#include <optional>

#include "core/batch/manifest.h"

namespace sortie {

/// When the next run of a batch may start, and how many may be at work. A provider that refuses one run
/// slows all of them: starts pause, each time in a row for twice as long, and half as many runs are at
/// work until runs succeed again.
class Pace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// @param jobs  runs at the same time, at most
  Pace(const BatchRetry& retry, int jobs) : retry_(retry), jobs_(jobs), width_(jobs) {}

  /// A run ended since its provider refused or failed.
  /// @param started      of that run: those that were at work together count once
  /// @param retry_after  what the provider asks for
  /// @param jitter       0 to 1, random: so that batches on several machines don't come back together
  void limited(Time now, Time started, std::optional<std::chrono::seconds> retry_after,
               double jitter);
  /// A run ended by itself.
  void served() noexcept;

  Time next_start() const noexcept { return next_; }
  int width() const noexcept { return width_; }

 private:
  BatchRetry retry_;
  int jobs_;
  int width_;
  int in_row_ = 0;
  Time last_{};
  Time next_{};
};

}  // namespace sortie
