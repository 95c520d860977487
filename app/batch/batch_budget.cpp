#include "app/batch/batch_budget.h"

#include <algorithm>

namespace sortie {
namespace {

double share_of(const BatchPlan& plan) {
  return plan.runs.empty()
             ? 1.0
             : static_cast<double>(plan.own.size()) / static_cast<double>(plan.runs.size());
}

double usd_of(Cost cost) { return static_cast<double>(cost.to_micros()) / 1e6; }

}  // namespace

BatchReserve::BatchReserve(const BatchPlan& plan, const BatchBudget& budget, const Spent& spent)
    : plan_(plan), spent_(spent) {
  if (budget.cost) cost_ = Cost::usd(*budget.cost * share_of(plan));
  if (budget.tokens)
    tokens_ = static_cast<std::int64_t>(static_cast<double>(*budget.tokens) * share_of(plan));
}

BatchReserve::Answer BatchReserve::reserve(BatchJob& job, const std::vector<BatchJob>& jobs,
                                           RunGrant& grant) {
  if (!limits()) return Answer::granted;
  const TaskBudget& task = plan_.task_of(*job.run).budget;
  Spent::Use used = spent_.all();
  bool others = false;
  for (const BatchJob& other : jobs) {
    if (&other == &job || !other.reserves) continue;
    used.cost += other.reserved_cost;
    used.tokens += other.reserved_tokens;
    // A killed one that is not started again keeps what may have to be paid.
    others = others || other.state != BatchJob::State::ended;
  }
  const Spent::Use own = spent_.of_record(job.run->name);
  const Cost want_cost = Cost::usd(task.cost) - own.cost;
  const std::int64_t want_tokens = std::max<std::int64_t>(task.tokens - own.tokens, 0);
  const Cost left_cost = cost_ ? *cost_ - used.cost : want_cost;
  const std::int64_t left_tokens =
      tokens_ ? std::max<std::int64_t>(*tokens_ - used.tokens, 0) : want_tokens;
  const bool fits = want_cost <= left_cost && want_tokens <= left_tokens;
  // Is returned, and pays nothing: it needs no room.
  if (!fits && !job.finished) {
    if (others) return Answer::wait;
    if (exhausted_ || left_cost == Cost() || left_tokens == 0) return Answer::spent;
  }
  job.lowered = !fits;
  job.reserves = true;
  job.reserved_cost = std::min(want_cost, left_cost);
  job.reserved_tokens = std::min(want_tokens, left_tokens);
  if (cost_) grant.cost = usd_of(own.cost) + usd_of(job.reserved_cost);
  if (tokens_) grant.tokens = own.tokens + job.reserved_tokens;
  return Answer::granted;
}

void BatchReserve::give_back(BatchJob& job) const noexcept {
  job.reserves = false;
  job.reserved_cost = Cost();
  job.reserved_tokens = 0;
}

}  // namespace sortie
