#pragma once

#include <string>
#include <vector>

#include "app/inputs/options.h"
#include "app/inputs/task_and_policy.h"

namespace sortie {

/// What keeps a run of a task from being started, or its own model from being asked.
struct StartProblems {
  /// The run would fail: an address or a value beyond the policy, a key that no model has. Each says
  /// what to write.
  std::vector<std::string> problems{};
  std::vector<std::string> notes{};  ///< the run would work all the same
};

/// Looks for what `run` would refuse or lack, with these flags and this environment, as far as that is
/// known without the task's variables. Opens no key, and uses no network.
StartProblems find_start_problems(const LoadedTask& loaded, const RunOptions& options);

}  // namespace sortie
