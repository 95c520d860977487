#pragma once

#include <string>
#include <vector>

#include "core/task/task.h"

namespace sortie {

/// Whether the model gets `local_shell` in place of `shell`: it was trained with it, and is reached
/// in a format that has it.
bool offers_local_shell(const TaskModel& model);

/// Whether the provider searches the web by itself, where the task asks for that.
bool offers_web_search(const TaskModel& model);

/// Whether a model of the task may search the web while it runs.
bool searches_web(const Task& task);

/// Whether the task lets the run have the tool. `shell` and `local_shell` are one tool here, in the
/// form that the model knows. Without a list a run has all but `web_search`: what a model searches
/// for leaves the machine.
bool enables_tool(const std::vector<std::string>& enabled, const std::string& tool);

}  // namespace sortie
