#include "core/batch/pace.h"

#include <algorithm>

namespace sortie {

void Pace::limited(Time now, Time started, std::optional<std::chrono::seconds> retry_after,
                   double jitter) {
  if (in_row_ == 0 || started >= last_) {
    in_row_ = std::min(in_row_ + 1, 30);
    last_ = now;
    width_ = std::max(width_ / 2, 1);
    const auto most = std::chrono::duration<double, std::milli>(
        std::min<double>(static_cast<double>(retry_.max_wait.count()),
                         static_cast<double>(retry_.wait.count()) *
                             static_cast<double>(std::int64_t{1} << (in_row_ - 1))));
    const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(
        most * (0.5 + 0.5 * std::clamp(jitter, 0.0, 1.0)));
    next_ = std::max(next_, now + wait);
  }
  // A provider that names a time has counted its own load: never come back earlier.
  if (retry_after) next_ = std::max(next_, now + *retry_after);
}

void Pace::served() noexcept {
  in_row_ = 0;
  width_ = std::min(width_ + 1, jobs_);
}

}  // namespace sortie
