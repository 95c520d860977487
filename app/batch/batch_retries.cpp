#include "app/batch/batch_retries.h"

#include <chrono>
#include <optional>
#include <string>

namespace sortie {
namespace {

/// A provider that asks for more is not waited for: the same command later goes on.
constexpr std::chrono::hours kLongestWait{1};
/// Until a run that found its folder or its workspace in use looks again; longer with each start.
constexpr std::chrono::seconds kBusy{1};

bool provider_failed(const BatchRow& row) {
  return row.code == ExitCode::unavailable || row.code == ExitCode::limited;
}

}  // namespace

/// @return  false if the provider asks for a pause that is too long
bool BatchRetries::slow_down(const BatchJob& job, BatchStop& stop) {
  std::optional<std::chrono::seconds> after;
  if (job.row.retry_after_s) after = std::chrono::seconds(*job.row.retry_after_s);
  if (after && *after > kLongestWait) {
    stop.give_up("the provider's limit ends only in " + std::to_string(after->count() / 60) +
                 " min: " + job.row.reason);
    return false;
  }
  std::uniform_real_distribution<double> jitter(0.0, 1.0);
  pace_.limited(std::chrono::steady_clock::now(), job.started, after, jitter(random_));
  return true;
}

bool BatchRetries::again(BatchJob& job, BatchStop& stop) {
  const BatchRow& row = job.row;
  if (row.passed()) pace_.served();
  if (provider_failed(row) && !slow_down(job, stop)) return false;
  if (!row.may_be_retried() || !stop.lets_go_on() || job.starts >= retry_.attempts) return false;
  job.ready = std::chrono::steady_clock::now();
  if (row.code == ExitCode::busy || row.code == ExitCode::conflict) job.ready += kBusy * job.starts;
  return true;
}

}  // namespace sortie
