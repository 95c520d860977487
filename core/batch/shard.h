#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace sortie {

/// A part of a batch: every count-th run, from the index-th on.
struct Shard {
  int index = 1;
  int count = 1;
  bool given = false;  ///< otherwise the batch is whole
  std::string from{};  ///< where the numbers come from: "SLURM_ARRAY_TASK_ID"; "" for --shard i/n

  bool has(std::size_t run) const noexcept {
    return run % static_cast<std::size_t>(count) == static_cast<std::size_t>(index - 1);
  }
  /// "2-of-4", or ""
  std::string suffix() const {
    return given ? std::to_string(index) + "-of-" + std::to_string(count) : std::string();
  }
  /// "2/4", or ""
  std::string text() const {
    return given ? std::to_string(index) + "/" + std::to_string(count) : std::string();
  }
};

/// A variable of the environment; "" if it is not set.
using EnvironmentLookup = std::function<std::string(const char*)>;

/// Reads `--shard`: "i/n" (from 1), "auto" or "auto/n", whose numbers the engine's variables give.
/// @throws InputError  names the variable that is missing or out of range
///
/// Source: Slurm's "Job Array Support"; Kubernetes' "Indexed Job"; GitLab's, Buildkite's and CircleCI's
/// pages on parallel jobs; Azure Pipelines' predefined variables; AWS Batch's "Array jobs".
Shard read_shard(const std::string& text, const EnvironmentLookup& environment);

}  // namespace sortie
