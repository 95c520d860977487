#include "app/batch/batch_view.h"

#include <algorithm>

#include "app/batch/batch_results.h"
#include "app/batch/batch_table.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::chrono::milliseconds kTick{1000};     ///< between two looks at the table
constexpr std::chrono::milliseconds kDrawTick{200};  ///< at the least
constexpr std::chrono::seconds kHeartbeat{30};

std::string begin_line(const BatchPlan& plan, int jobs, bool auto_jobs) {
  return "batch " + plan.called + ": " + std::to_string(plan.own.size()) +
         (plan.own.size() == 1 ? " run" : " runs") +
         (plan.shard.given ? " of shard " + plan.shard.text() : "") +
         (plan.shard.from.empty() ? "" : " (by " + plan.shard.from + ")") + ", " +
         std::to_string(jobs) + " at a time" + (auto_jobs ? " (auto)" : "") + ", in " +
         plan.out.string();
}

}  // namespace

void BatchView::tell_begin(const BatchPlan& plan, const std::filesystem::path& folder, int jobs,
                           bool auto_jobs) {
  screen_.say(begin_line(plan, jobs, auto_jobs));
  events_.print(Json::object({{"type", "batch.started"},
                              {"manifest", plan.called},
                              {"runs", static_cast<std::int64_t>(plan.own.size())},
                              {"jobs", jobs},
                              {"shard", plan.shard.given ? Json(plan.shard.text()) : Json()},
                              {"out", folder.string()}}));
}

void BatchView::tell_start(const BatchJob& job) {
  if (job.starts > 1)
    screen_.say(job.row.name + ": started again (start " + std::to_string(job.starts) + ")");
  else if (style_.verbose)
    screen_.say(job.row.name + ": started");
  events_.print(Json::object(
      {{"type", "run.started"}, {"name", job.row.name}, {"attempt", job.row.attempts}}));
}

void BatchView::tell_lines(const BatchJob& job, std::string_view lines) {
  if (!style_.verbose) return;
  for (const std::string_view line : split_lines(lines))
    if (is_said(line)) screen_.say(job.row.name + " | " + std::string(line));
}

void BatchView::tell_end(const BatchJob& job, bool again) {
  Json event = Json::object({{"type", "run.ended"}});
  const Json fields = batch_row_json(job.row);
  for (const auto& [name, value] : fields.members()) event.set(name, value);
  event.set("again", again);
  events_.print(event);
  if (again)
    screen_.say(job.row.name + ": " + job.row.status + ", is started again: " + job.row.reason);
}

void BatchView::tell_settled(const BatchJob& job) {
  if (job.starts > 0 || job.row.code != ExitCode::budget) screen_.say(end_line(job.row));
}

void BatchView::tell_signal(const BatchStop& stop, std::size_t running) {
  screen_.say(stop.reason() + ": " + std::to_string(running) +
              (running == 1 ? " run is told to end" : " runs are told to end"));
}

void BatchView::tell_end(const BatchStory& story, const BatchTime& time,
                         const std::filesystem::path& results,
                         const std::filesystem::path& summary) {
  events_.print(Json::object({{"type", "batch.ended"},
                              {"status", status_word(story.end.code)},
                              {"exit_code", static_cast<int>(story.end.code)},
                              {"cause", story.end.cause},
                              {"next", story.end.next},
                              {"results", results.string()}}));
  if (!style_.quiet)
    screen_.say(sum_line(story.rows, time.started(), std::chrono::steady_clock::now()));
  const bool fine = story.end.code == ExitCode::success;
  screen_.finish(fine && style_.quiet ? "" : batch_last_line(story.end, summary));
}

void BatchView::show(const BatchJobs& jobs, const BatchTime& time, Time next_start) {
  const Time now = std::chrono::steady_clock::now();
  if (!screen_.has_table()) {
    if (now - screen_.last() >= kHeartbeat)
      screen_.say(count_line(jobs.all(), time.started(), now, next_start));
    return;
  }
  if (now - drawn_ < kDrawTick) return;
  drawn_ = now;
  screen_.look_at_size();
  screen_.draw(table_rows({.jobs = jobs.all(),
                           .started = time.started(),
                           .now = now,
                           .next_start = next_start,
                           .lines = screen_.lines(),
                           .columns = screen_.columns()}));
}

BatchView::Time BatchView::next_show() const {
  const Time beat = screen_.last() + kHeartbeat;
  return screen_.has_table() ? std::min(beat, std::chrono::steady_clock::now() + kTick) : beat;
}

}  // namespace sortie
