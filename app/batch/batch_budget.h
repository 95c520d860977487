#pragma once

#include <optional>
#include <vector>

#include "app/batch/batch_job.h"
#include "app/batch/batch_plan.h"
#include "app/batch/run_process.h"
#include "app/batch/spent.h"

namespace sortie {

/// The budget of all runs together: before a run starts, its task's budget is set aside, and given back as
/// far as it was not used. A shard has its share by the number of its runs, so that shards need not know
/// of each other.
class BatchReserve {
 public:
  BatchReserve(const BatchPlan& plan, const BatchBudget& budget, const Spent& spent);

  enum class Answer {
    granted,
    wait,   ///< for what others give back
    spent,  ///< nothing is left
  };
  /// Sets the run's budget aside, lowered to what is left if no other run could give anything back.
  Answer reserve(BatchJob& job, const std::vector<BatchJob>& jobs, RunGrant& grant);
  void give_back(BatchJob& job) const noexcept;
  /// A run ended for lack of budget although it had all that was left.
  void exhaust() noexcept { exhausted_ = true; }
  bool limits() const noexcept { return cost_ || tokens_; }

 private:
  std::optional<Cost> cost_;
  std::optional<std::int64_t> tokens_;
  const BatchPlan& plan_;
  const Spent& spent_;
  bool exhausted_ = false;
};

}  // namespace sortie
