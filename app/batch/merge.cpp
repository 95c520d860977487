#include "app/batch/merge.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "app/batch/batch_results.h"
#include "app/show/standard_output.h"
#include "core/base/error.h"
#include "core/files/files.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostOfPlan = 64u << 20;

/// batch.json, or that of a shard.
bool is_plan(const std::string& name) {
  return name == "batch.json" || (name.starts_with("batch-") && name.ends_with(".json"));
}

class Merge {
 public:
  explicit Merge(const BatchReportOptions& options) : options_(options) {
    out_ = options.out.empty() ? options.folders.front() : options.out;
    std::error_code error;
    fs::create_directories(out_, error);
    if (error) throw path_error("--out " + out_.string(), error.value());
    real_out_ = fs::canonical(out_);
  }

  BatchStory story() {
    for (const std::string& folder : options_.folders) read(folder);
    std::set<std::string> shards;
    BatchStory story{.name = manifest_};
    for (const std::string& name : names_) {
      const auto found = rows_.find(name);
      story.rows.push_back(found != rows_.end() ? found->second : missing(name));
    }
    story.end = judge_batch(story.rows);
    return story;
  }

  const fs::path& out() const { return out_; }
  BatchFiles files() const {
    return {.results = "results.jsonl",
            .summary = "summary.md",
            .page = "report.html",
            .predictions = predictions_};
  }

 private:
  static BatchRow missing(const std::string& name) {
    return {.name = name,
            .status = BatchRow::kMissing,
            .reason = "none of the folders has its result",
            .next = "run its shard, and merge again",
            .out = "runs/" + name};
  }

  void read(const fs::path& folder) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) throw InputError(folder.string() + ": not a folder");
    bool any = false;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (!is_plan(name)) continue;
      any = true;
      read_plan(entry.path());
      const std::string suffix = name.substr(5, name.size() - 10);
      const fs::path results = folder / ("results" + suffix + ".jsonl");
      if (fs::exists(results, error)) read_results(folder, results);
    }
    if (!any) throw InputError(folder.string() + ": is no folder of a batch: it has no batch.json");
  }

  void read_plan(const fs::path& file) {
    const TextFile text = read_text_file(file, kMostOfPlan);
    Json plan;
    try {
      if (text.problem.empty()) plan = parse_json(text.text);
    } catch (const JsonError& error) {
      throw InputError(file.string() + ": " + error.what());
    }
    const std::string digest = plan.string_at("digest");
    if (digest.empty()) throw InputError(file.string() + ": is no batch's");
    if (!digest_.empty() && digest != digest_)
      throw InputError(file.string() +
                       ": is of another batch, or of another version of its "
                       "manifest, than " +
                       first_.string());
    if (!digest_.empty()) return;
    digest_ = digest;
    first_ = file;
    manifest_ = plan.string_at("manifest");
    predictions_ = plan.string_at("predictions");
    names_ = plan["runs"].texts();
  }

  void read_results(const fs::path& folder, const fs::path& file) {
    for (BatchRow& row : read_batch_rows(file)) {
      // A whole merged file is no source of its own: a shard's says more.
      if (row.status == BatchRow::kMissing) continue;
      move_paths(folder, row);
      const auto found = rows_.find(row.name);
      if (found == rows_.end() || is_better(row, found->second)) rows_[row.name] = std::move(row);
    }
  }

  static bool is_better(const BatchRow& row, const BatchRow& other) {
    if (row.passed() != other.passed()) return row.passed();
    return row.attempts > other.attempts;
  }

  /// Paths of another folder lead there from the merged one.
  void move_paths(const fs::path& folder, BatchRow& row) const {
    const fs::path real = fs::canonical(folder);
    if (real == real_out_) return;
    const auto moved = [&](const std::string& path) {
      return path.empty() ? path : (real / path).lexically_relative(real_out_).string();
    };
    row.out = moved(row.out);
    row.diff = moved(row.diff);
  }

  const BatchReportOptions& options_;
  fs::path out_;
  fs::path real_out_;
  fs::path first_;  ///< the file that said first which batch it is
  std::string digest_;
  std::string manifest_;
  std::string predictions_;
  std::vector<std::string> names_;
  std::map<std::string, BatchRow> rows_;
};

}  // namespace

ExitCode merge_batches(const BatchReportOptions& options, const OutputStyle& style) {
  Merge merge(options);
  const BatchStory story = merge.story();
  write_batch_files(story, merge.out(), merge.files());
  tell_ci(story, fs::absolute(merge.out()), merge.files(), style.quiet);
  if (options.json) print_data(batch_rows_text(story.rows));
  const bool fine = story.end.code == ExitCode::success;
  if (!fine || !style.quiet)
    print_error(batch_last_line(story.end, merge.out() / "summary.md") + "\n");
  return story.end.code;
}

}  // namespace sortie
