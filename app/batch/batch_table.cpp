#include "app/batch/batch_table.h"

#include <algorithm>

#include "core/text/display_width.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using namespace std::chrono_literals;
using Time = std::chrono::steady_clock::time_point;

std::string time_words(std::chrono::steady_clock::duration time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  if (seconds < 60) return std::to_string(seconds) + " s";
  if (seconds < 3600)
    return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  return std::to_string(seconds / 3600) + " h " + std::to_string(seconds / 60 % 60) + " min";
}

std::string counted(std::int64_t count, const char* noun) {
  return with_thousands(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string padded(std::string text, std::size_t columns) {
  text = cut_to_columns(text, columns);
  return text + std::string(columns - std::min(display_columns(text), columns), ' ');
}

std::string job_row(const BatchJob& job, Time now, std::size_t name_columns) {
  return padded(job.run->name, name_columns) + "  " + padded(time_words(now - job.started), 9) +
         "  " + (job.last_line.empty() ? "starts" : job.last_line);
}

}  // namespace

std::string count_line(const std::vector<BatchJob>& jobs, Time started, Time now, Time next_start) {
  std::size_t ended = 0;
  std::size_t failed = 0;
  std::size_t running = 0;
  std::size_t worked = 0;  // ended in this start, after work of their own
  Cost cost;
  for (const BatchJob& job : jobs) {
    if (job.state == BatchJob::State::running) ++running;
    if (job.row.cost) cost += *job.row.cost;
    if (job.state != BatchJob::State::ended) continue;
    ++ended;
    if (job.starts > 0) ++worked;
    if (!job.row.passed()) ++failed;
  }
  std::string text =
      "batch: " + std::to_string(ended) + " of " + std::to_string(jobs.size()) + " ended";
  if (failed > 0) text += " (" + std::to_string(failed) + " failed)";
  text += ", " + std::to_string(running) + " running";
  if (cost > Cost()) text += ", " + cost.text() + " USD";
  text += ", " + time_words(now - started);
  if (next_start > now)
    text +=
        ", starts pause for " + time_words(next_start - now + 999ms) + " (the provider refused)";
  else if (worked > 0 && ended < jobs.size())
    text += ", about " +
            time_words((now - started) / static_cast<int>(worked) *
                       static_cast<int>(jobs.size() - ended)) +
            " left";
  return text;
}

std::vector<std::string> table_rows(const BatchTable& table) {
  std::vector<const BatchJob*> running;
  std::size_t name_columns = 4;
  for (const BatchJob& job : table.jobs)
    if (job.state == BatchJob::State::running) {
      running.push_back(&job);
      name_columns = std::max(name_columns, display_columns(job.run->name));
    }
  name_columns = std::min(name_columns, std::max<std::size_t>(table.columns / 3, 8));
  // The last line of a terminal is the cursor's; one is the counts'.
  const std::size_t room = table.lines > 4 ? table.lines - 3 : 1;
  std::vector<std::string> rows;
  const std::size_t shown = running.size() <= room ? running.size() : room - 1;
  for (std::size_t i = 0; i < shown; ++i)
    rows.push_back(job_row(*running[i], table.now, name_columns));
  if (shown < running.size())
    rows.push_back("and " + std::to_string(running.size() - shown) + " more running");
  rows.push_back(count_line(table.jobs, table.started, table.now, table.next_start));
  return rows;
}

std::string end_line(const BatchRow& row) {
  std::string text = row.name + ": " + row.status;
  if (row.turns > 0) {
    text += ", " + counted(row.turns, "turn") + ", " + with_thousands(row.tokens) + " tokens";
    if (row.cost && *row.cost > Cost()) text += ", " + row.cost->text() + " USD";
    text += ", " + time_words(row.duration);
  }
  if (!row.passed()) text += ": " + one_line(row.reason, 400);
  return text;
}

std::string sum_line(const std::vector<BatchRow>& rows, Time started, Time now) {
  const BatchSum sum = sum_of(rows);
  return counted(static_cast<std::int64_t>(sum.runs), "run") + ": " + counted(sum.turns, "turn") +
         ", " + with_thousands(sum.tokens) + " tokens" +
         (sum.cost > Cost() ? ", " + sum.cost.text() + " USD" : "") + ", " +
         time_words(now - started);
}

}  // namespace sortie
