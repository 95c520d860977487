#include "app/batch/spent.h"

#include <fcntl.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/files/files.h"
#include "core/json/json.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::uint64_t kMostOfFile = 1u << 30;

Spent::Use& operator+=(Spent::Use& sum, const Spent::Use& more) {
  sum.cost += more.cost;
  sum.tokens += more.tokens;
  sum.time += more.time;
  return sum;
}

}  // namespace

Spent::Spent(std::filesystem::path file) : file_(std::move(file)) {
  const TextFile text = read_bytes_file(file_, kMostOfFile);
  const std::string_view whole = std::string_view(text.text).substr(0, text.text.rfind('\n') + 1);
  std::chrono::milliseconds one_start{0};
  for (const std::string_view line : split_lines(whole)) {
    Json json;
    try {
      json = parse_json(line);
    } catch (const JsonError&) {
      continue;  // cut off by a kill, and gone on with by the next start
    }
    if (const auto time = json["time_ms"].integer(); time && json.find("name") == nullptr) {
      if (*time < one_start.count()) earlier_ += one_start;
      one_start = std::chrono::milliseconds(*time);
      continue;
    }
    take(json.string_at("name"), json.string_at("run_id"),
         {.cost = Cost::usd(json["cost_usd"].real().value_or(0)),
          .tokens = json.integer_at("tokens"),
          .time = std::chrono::milliseconds(json.integer_at("time_ms")),
          .starts = static_cast<int>(json.integer_at("starts"))});
  }
  earlier_ += one_start;
  if (!text.text.empty() && whole.size() < text.text.size()) append("");
}

void Spent::take(const std::string& name, const std::string& run_id, const Use& now) {
  Run& run = runs_[name];
  run.starts = now.starts;
  run.last = run_id;
  if (!run_id.empty()) run.records[run_id] = now;
}

Spent::Use Spent::of(const std::string& name) const {
  Use sum;
  const auto run = runs_.find(name);
  if (run == runs_.end()) return sum;
  for (const auto& [id, use] : run->second.records) sum += use;
  sum.starts = run->second.starts;
  return sum;
}

Spent::Use Spent::of_record(const std::string& name) const {
  const auto run = runs_.find(name);
  if (run == runs_.end()) return {};
  const auto record = run->second.records.find(run->second.last);
  return record == run->second.records.end() ? Use() : record->second;
}

Spent::Use Spent::all() const {
  Use sum;
  for (const auto& [name, run] : runs_)
    for (const auto& [id, use] : run.records) sum += use;
  return sum;
}

void Spent::add(const std::string& name, const std::string& run_id, const Use& now) {
  take(name, run_id, now);
  append(write_json(Json::object({{"name", name},
                                  {"run_id", run_id},
                                  {"cost_usd", Json::number(now.cost.exact())},
                                  {"tokens", now.tokens},
                                  {"time_ms", static_cast<std::int64_t>(now.time.count())},
                                  {"starts", now.starts}})));
}

void Spent::set_time(std::chrono::milliseconds time) {
  append(write_json(Json::object({{"time_ms", static_cast<std::int64_t>(time.count())}})));
}

void Spent::append(const std::string& line) const {
  const Fd file(
      ::open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file || !write_all(file.get(), line + "\n")) throw path_error(file_.string(), errno);
}

}  // namespace sortie
