#pragma once

#include <filesystem>
#include <vector>

#include "app/batch/batch_budget.h"
#include "app/batch/batch_folder.h"
#include "app/batch/batch_job.h"
#include "app/batch/batch_options.h"
#include "app/batch/batch_plan.h"
#include "app/batch/batch_time.h"
#include "app/batch/spent.h"
#include "app/run/attempt_key.h"

namespace sortie {

/// Starts runs as processes, each with what it may use. What it is made of outlives it.
class RunStarter {
 public:
  struct Parts {
    const BatchOptions& options;
    const BatchPlan& plan;
    const BatchFolder& folder;
    const Spent& spent;
    const BatchTime& time;
    BatchReserve& reserve;
  };
  /// Writes the file of the rate limits, if the manifest has some, and takes the key.
  explicit RunStarter(const Parts& parts);

  /// @param jobs  all of the batch, of which this is one
  /// @return  granted: it runs
  BatchReserve::Answer start(BatchJob& job, const std::vector<BatchJob>& jobs);

 private:
  Parts parts_;
  std::filesystem::path rate_limits_;
  AttemptKey key_;
};

}  // namespace sortie
