#include "app/batch/batch_status.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "app/show/failure.h"
#include "app/show/standard_output.h"
#include "policies/environment/known_secrets.h"

namespace sortie {
namespace {

/// The longest time that a provider asks a run of the batch to wait for.
Json retry_after(const BatchStory& story) {
  std::optional<std::int64_t> longest;
  for (const BatchRow& row : story.rows)
    if (row.may_be_retried() && row.retry_after_s)
      longest = std::max(longest.value_or(0), *row.retry_after_s);
  return longest ? Json(*longest) : Json();
}

}  // namespace

BatchStatus::BatchStatus(const BatchOptions& options) {
  if (options.status_file.empty()) return;
  file_.emplace(options.status_file);
  // Now: the batch takes its key out of the environment.
  redactor_.add_all(known_secrets(Policy{}, own_environment()).values);
}

void BatchStatus::write(const Json& members) const {
  const std::string problem = file_->write(status_line(members));
  if (!problem.empty()) print_error("sortie: warning: --status-file: " + problem + "\n");
}

void BatchStatus::tell_end(const BatchStory& story, const std::string& out) const {
  if (!file_) return;
  const BatchSum sum = sum_of(story.rows);
  write(Json::object({{"status", status_word(story.end.code)},
                      {"exit_code", static_cast<int>(story.end.code)},
                      {"reason", story.end.cause},
                      {"next", story.end.next.empty() ? Json() : Json(story.end.next)},
                      {"retryable", is_retryable(story.end.code)},
                      {"retry_after_s", retry_after(story)},
                      {"runs", static_cast<std::int64_t>(sum.runs)},
                      {"succeeded", static_cast<std::int64_t>(sum.passed)},
                      {"failed", static_cast<std::int64_t>(sum.runs - sum.passed)},
                      {"tokens", sum.tokens},
                      {"cost_usd", sum.cost_known ? Json::number(sum.cost.exact()) : Json()},
                      {"out", out}}));
}

void BatchStatus::tell_failure(const std::exception& error) const {
  if (!file_) return;
  const Error failure = failure_of(error);
  write(unstarted_result(failure.code(), redactor_.text(failure.what(), Audience::people)));
}

}  // namespace sortie
