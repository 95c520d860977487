#include "app/batch/batch_results.h"

#include <fcntl.h>

#include <cerrno>
#include <system_error>

#include "app/show/ci_log.h"
#include "app/show/github_files.h"
#include "app/show/job_notes.h"
#include "app/show/standard_output.h"
#include "ci/report/summary.h"
#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/files/new_file_mode.h"
#include "core/text/ci_commands.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostDiff = 256u << 20;

}  // namespace

Json batch_json(const BatchPlan& plan) {
  Json runs = Json::array();
  for (const BatchRun& run : plan.runs) runs.push_back(run.name);
  return Json::object(
      {{"version", 1},
       {"manifest", fs::path(plan.called).filename().string()},
       {"digest", plan.digest},
       {"shard", plan.shard.given ? Json(plan.shard.text()) : Json()},
       {"predictions",
        plan.manifest.predictions.empty() ? Json() : Json(plan.manifest.predictions)},
       {"runs", std::move(runs)}});
}

std::string prediction_line(const BatchRow& row, const fs::path& folder) {
  // What is no diff any more, or not the one of the result, is no prediction.
  std::string patch;
  if (!row.diff.empty()) {
    const TextFile file = read_bytes_file(folder / row.diff, kMostDiff);
    if (file.problem.empty() && "sha256:" + sha256_hex(file.text) == row.diff_sha256)
      patch = file.text;
  }
  return write_json(Json::object({{"instance_id", row.instance},
                                  {"model_name_or_path", row.model.empty() ? "sortie" : row.model},
                                  {"model_patch", std::move(patch)}})) +
         "\n";
}

BatchFiles batch_files(const BatchFolder& folder, const std::string& predictions) {
  const fs::path name = predictions;
  return {.results = folder.with_shard("results", ".jsonl"),
          .summary = folder.with_shard("summary", ".md"),
          .page = folder.with_shard("report", ".html"),
          .predictions = predictions.empty()
                             ? ""
                             : folder.with_shard(name.stem().string(), name.extension().string())};
}

void append_result(const BatchRow& row, const fs::path& results) {
  const Fd file(::open(results.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                       new_file_mode()));
  if (!file || !write_all(file.get(), write_json(batch_row_json(row)) + "\n"))
    throw path_error(results.string(), errno);
}

void write_batch_files(const BatchStory& story, const fs::path& folder, const BatchFiles& files) {
  write_file(folder / files.results, batch_rows_text(story.rows), new_file_mode());
  write_file(folder / files.summary, batch_summary(story), new_file_mode());
  write_file(folder / files.page, batch_page(story), new_file_mode());
  if (files.predictions.empty()) return;
  std::string lines;
  for (const BatchRow& row : story.rows) lines += prediction_line(row, folder);
  write_file(folder / files.predictions, lines, new_file_mode());
}

void tell_ci(const BatchStory& story, const fs::path& folder, const BatchFiles& files, bool quiet) {
  const CiLog log(ci_systems());
  std::string notes;
  std::size_t count = 0;
  std::vector<BatchRow> rows = story.rows;
  sort_for_people(rows);
  for (const BatchRow& row : rows) {
    if (row.passed() || ++count > kMostNotes) break;
    notes += log.error("sortie: " + row.status, row.name + ": " + one_line(row.reason, 300));
  }
  if (!quiet) print_ci_commands(notes);
  GithubFiles github;
  const BatchSum sum = sum_of(story.rows);
  github.add_values({{"status", status_word(story.end.code)},
                     {"exit-code", std::to_string(static_cast<int>(story.end.code))},
                     {"results-path", (folder / files.results).string()},
                     {"summary-path", (folder / files.summary).string()},
                     {"succeeded", std::to_string(sum.passed)},
                     {"failed", std::to_string(sum.runs - sum.passed)},
                     {"cost-usd", sum.cost.exact()},
                     {"tokens", std::to_string(sum.tokens)}});
  if (const std::uint64_t room = github.summary_room(); room > 0)
    github.add_summary(summary_within(batch_summary(story), room));
  for (const std::string& problem : github.problems())
    if (!quiet) print_error("sortie: warning: " + problem + "\n");
}

std::string batch_last_line(const BatchEnd& end, const fs::path& summary) {
  return "sortie: " + std::string(status_word(end.code)) + " (" +
         std::to_string(static_cast<int>(end.code)) + "): " + end.cause +
         (end.next.empty() ? "" : "; next: " + end.next) + "; see " + summary.string();
}

}  // namespace sortie
