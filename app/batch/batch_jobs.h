#pragma once

#include <cstddef>
#include <vector>

#include "app/batch/batch_folder.h"
#include "app/batch/batch_job.h"
#include "app/batch/batch_plan.h"
#include "app/batch/spent.h"

namespace sortie {

/// The runs of this shard, in the order in which they are started: what was begun comes first, then
/// what is only to be returned.
class BatchJobs {
 public:
  using State = BatchJob::State;

  BatchJobs(const BatchPlan& plan, const BatchFolder& folder, const Spent& spent);

  std::vector<BatchJob>& all() noexcept { return all_; }
  const std::vector<BatchJob>& all() const noexcept { return all_; }
  std::size_t size() const noexcept { return all_.size(); }
  std::size_t count(State state) const;
  /// Sends it to each running run.
  void signal(int number) const;

 private:
  std::vector<BatchJob> all_;
};

}  // namespace sortie
