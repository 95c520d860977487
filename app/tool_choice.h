#pragma once

#include "core/task/task.h"

namespace sortie {

/// Whether the model gets `local_shell` in place of `shell`: it was trained with it, and is reached
/// in a format that has it.
bool offers_local_shell(const TaskModel& model);

/// Whether the provider searches the web by itself, where the task asks for that.
bool offers_web_search(const TaskModel& model);

/// Whether the run has `view_image`: the model takes images; or that is not known of it, and the
/// task or a stage names the tool.
bool offers_view_image(const Task& task);

/// Whether a model of the task may search the web while it runs.
bool searches_web(const Task& task);

}  // namespace sortie
