#include "core/batch/shard.h"

#include <charconv>
#include <optional>

#include "core/base/error.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr int kMostShards = 100'000;

std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || text.front() == '-' || read.ec != std::errc() ||
      read.ptr != text.data() + text.size() || number > kMostShards)
    return std::nullopt;
  return number;
}

[[noreturn]] void refuse(const std::string& flag, const std::string& problem) {
  throw InputError("--shard " + one_line(flag, 60) + ": " + problem);
}

/// An engine that starts a job several times, and numbers them.
struct Engine {
  const char* name;
  const char* index;
  const char* count;  ///< null: it has none
  int first;          ///< the index of the first one
};

// Slurm's arrays begin anywhere, and are judged apart.
constexpr Engine kEngines[] = {
    {"Kubernetes", "JOB_COMPLETION_INDEX", nullptr, 0},
    {"GitLab", "CI_NODE_INDEX", "CI_NODE_TOTAL", 1},
    {"Buildkite", "BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", 0},
    {"CircleCI", "CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL", 0},
    {"Azure Pipelines", "SYSTEM_JOBPOSITIONINPHASE", "SYSTEM_TOTALJOBSINPHASE", 1},
    {"AWS Batch", "AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE", 0},
};

class Engines {
 public:
  Engines(const std::string& flag, std::optional<int> count, const EnvironmentLookup& environment)
      : flag_(flag), count_(count), environment_(environment) {}

  Shard shard() const {
    if (!environment_("SLURM_ARRAY_TASK_ID").empty()) return of_slurm();
    for (const Engine& engine : kEngines)
      if (!environment_(engine.index).empty()) return of(engine);
    std::string names = "SLURM_ARRAY_TASK_ID";
    for (const Engine& engine : kEngines) names += std::string(", ") + engine.index;
    refuse(flag_, "none of these variables is set: " + names + "; write --shard i/n");
  }

 private:
  std::optional<int> variable(const char* name) const {
    const std::string text = environment_(name);
    if (text.empty()) return std::nullopt;
    const auto number = number_of(text);
    if (!number) refuse(flag_, std::string(name) + " is " + in_quotes(text) + ", not a number");
    return number;
  }

  Shard checked(int index, int count, const char* from, const std::string& value) const {
    if (count < 1 || index < 1 || index > count)
      refuse(flag_, std::string(from) + " is " + value + ", which is out of range for " +
                        std::to_string(count) + " shards");
    return {.index = index, .count = count, .given = true, .from = from};
  }

  Shard of(const Engine& engine) const {
    std::optional<int> count = count_;
    if (!count && engine.count != nullptr) count = variable(engine.count);
    if (!count) count = variable("SORTIE_SHARDS");
    if (!count)
      refuse(flag_, std::string(engine.name) + " sets " + engine.index + " here, but " +
                        (engine.count != nullptr ? std::string(engine.count) + " is missing"
                                                 : "does not say how many there are") +
                        "; write --shard auto/N, or set SORTIE_SHARDS");
    const int index = *variable(engine.index);
    return checked(index - engine.first + 1, *count, engine.index, environment_(engine.index));
  }

  /// Arrays may begin anywhere and have a step. Of one that was started again in part, the variables
  /// say nothing of the whole.
  Shard of_slurm() const {
    const int id = *variable("SLURM_ARRAY_TASK_ID");
    const int least = variable("SLURM_ARRAY_TASK_MIN").value_or(count_ && id == 0 ? 0 : 1);
    const int step = std::max(variable("SLURM_ARRAY_TASK_STEP").value_or(1), 1);
    if (count_) {
      const int first = least == 0 || id == 0 ? 0 : 1;
      return checked(id - first + 1, *count_, "SLURM_ARRAY_TASK_ID", std::to_string(id));
    }
    const auto count = variable("SLURM_ARRAY_TASK_COUNT");
    const auto most = variable("SLURM_ARRAY_TASK_MAX");
    if (!count && !most)
      refuse(flag_,
             "SLURM_ARRAY_TASK_ID is set, but SLURM_ARRAY_TASK_COUNT is missing; write "
             "--shard auto/N");
    const int all = most ? (*most - least) / step + 1 : *count;
    if (count && *count != all)
      refuse(flag_, "the array is no range: SLURM_ARRAY_TASK_COUNT is " + std::to_string(*count) +
                        ", SLURM_ARRAY_TASK_MIN to MAX are " + std::to_string(all) +
                        "; write --shard auto/N");
    if (least > 1)
      refuse(flag_, "SLURM_ARRAY_TASK_MIN is " + std::to_string(least) +
                        ": a part of an array does not say how many shards there are; write "
                        "--shard auto/N");
    return checked((id - least) / step + 1, all, "SLURM_ARRAY_TASK_ID", std::to_string(id));
  }

  const std::string& flag_;
  std::optional<int> count_;
  const EnvironmentLookup& environment_;
};

}  // namespace

Shard read_shard(const std::string& text, const EnvironmentLookup& environment) {
  constexpr const char* kForms = "expected i/n with i from 1 to n, auto, or auto/n";
  const std::size_t slash = text.find('/');
  const std::string before = text.substr(0, slash);
  std::optional<int> count;
  if (slash != std::string::npos) {
    count = number_of(std::string_view(text).substr(slash + 1));
    if (!count || *count < 1) refuse(text, kForms);
  }
  if (before == "auto") return Engines(text, count, environment).shard();
  const auto index = number_of(before);
  if (!index || !count) refuse(text, kForms);
  if (*index == 0)
    refuse(text, "shards are counted from 1: the first one is 1/" + std::to_string(*count));
  if (*index > *count) refuse(text, "there are " + std::to_string(*count) + " shards; " + kForms);
  return {.index = *index, .count = *count, .given = true, .from = {}};
}

}  // namespace sortie
