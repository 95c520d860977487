#pragma once

#include <random>

#include "app/batch/batch_job.h"
#include "app/batch/batch_stop.h"
#include "core/batch/pace.h"

namespace sortie {

/// Which runs are started again after their end, and when. A provider that refused or failed slows all.
class BatchRetries {
 public:
  /// @param jobs  runs at the same time, at most
  BatchRetries(const BatchRetry& retry, int jobs)
      : retry_(retry), pace_(retry, jobs), random_(std::random_device()()) {}

  const Pace& pace() const noexcept { return pace_; }
  /// Whether the run that ended is to be started again; then it is ready at its time.
  /// @param stop  is told when the provider asks for a pause that is too long to wait for
  bool again(BatchJob& job, BatchStop& stop);

 private:
  bool slow_down(const BatchJob& job, BatchStop& stop);

  BatchRetry retry_;
  Pace pace_;
  std::mt19937 random_;
};

}  // namespace sortie
