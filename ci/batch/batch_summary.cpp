#include <chrono>

#include "ci/batch/batch_report.h"
#include "ci/report/markdown.h"
#include "ci/report/summary.h"
#include "core/text/ci_commands.h"
#include "core/text/display_width.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// A table of more rows is not read by people; results.jsonl has all of them.
constexpr std::size_t kMostShownRows = 500;
constexpr std::size_t kMostOfReason = 200;

std::string duration_words(std::chrono::milliseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  if (seconds < 60) return std::to_string(seconds) + " s";
  if (seconds < 3600)
    return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  return std::to_string(seconds / 3600) + " h " + std::to_string(seconds / 60 % 60) + " min";
}

std::string cost_words(const std::optional<Cost>& cost) { return cost ? cost->text() : "–"; }

/// A link to a file of the batch, whose parts are names of [a-z0-9_.-].
std::string link(const std::string& text, const std::string& path) {
  return "[" + text + "](<" + path + ">)";
}

std::string row_line(const BatchRow& row) {
  const bool has_report = !row.run_id.empty();
  const std::string name = code_span(row.name);
  return "| " + (has_report ? link(name, row.out + "/summary.md") : name) + " | " +
         plain_words(row.status) + " | " + plain_words(one_line(row.reason, kMostOfReason)) +
         " | " + std::to_string(row.turns) + " | " + with_thousands(row.tokens) + " | " +
         cost_words(row.cost) + " | " + duration_words(row.duration) + " | " +
         (row.diff.empty() ? "–" : link(with_thousands(row.diff_lines), row.diff)) + " |\n";
}

}  // namespace

std::string batch_summary(const BatchStory& story) {
  std::vector<BatchRow> rows = story.rows;
  sort_for_people(rows);
  const BatchSum sum = sum_of(rows);
  std::string text = "## sortie batch: " + std::string(status_word(story.end.code)) + "\n\n" +
                     plain_words(story.end.cause) + "\n\n";
  if (!story.end.next.empty()) text += "**Next:** " + plain_words(story.end.next) + "\n\n";
  text += "| | |\n|---|---|\n| manifest | " + code_span(story.name) + " |\n";
  if (!story.shard.empty()) text += "| shard | " + story.shard + " |\n";
  text += "| runs | " + std::to_string(sum.runs) + ": " + std::to_string(sum.passed) +
          " succeeded, " + std::to_string(sum.failed) + " failed, " +
          std::to_string(sum.retryable) + " may succeed later, " + std::to_string(sum.not_started) +
          " not started |\n";
  text += "| turns | " + with_thousands(sum.turns) + " |\n| tokens | " +
          with_thousands(sum.tokens) + " |\n| cost | " + sum.cost.text() + " USD" +
          (sum.cost_known ? "" : ", without runs whose price is not known") +
          " |\n| time of all runs | " + duration_words(sum.duration) + " |\n\n";
  text +=
      "| run | status | cause | turns | tokens | USD | time | lines |\n"
      "|---|---|---|--:|--:|--:|--:|--:|\n";
  std::size_t shown = 0;
  for (const BatchRow& row : rows) {
    const std::string line = row_line(row);
    if (shown == kMostShownRows || text.size() + line.size() > kMostSummaryBytes - 1000) break;
    text += line;
    ++shown;
  }
  if (shown < rows.size())
    text += "\n" + std::to_string(rows.size() - shown) + " more runs are in results.jsonl.\n";
  return without_ci_commands(text,
                             {.github = true, .gitlab = true, .azure = true, .teamcity = true});
}

}  // namespace sortie
