#pragma once

#include <filesystem>
#include <string>

#include "app/inputs/options.h"
#include "core/task/task.h"
#include "policies/bounds/task_gate.h"
#include "policies/rules/policy.h"

namespace sortie {

/// A task with its policy.
struct LoadedTask {
  Task task;
  Policy policy;
  GatePlaces places;  ///< `workspace` is the run's: absolute, links resolved
};

/// Reads the task file, then the policy that it or a flag names, then the other files that the task
/// names: the policy says which of them it may use, and which folder it may work in. Files that it
/// may not use are not opened.
/// @param text  the text of the task if TASK is "-"
/// @throws InputError
LoadedTask load_task_and_policy(const RunOptions& options, const std::string& text);

/// The name of the run's policy: the flag's, else the task's, else "strict".
std::string chosen_policy(const std::string& flag, const Task& task);

}  // namespace sortie
