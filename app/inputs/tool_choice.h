#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/task/task.h"
#include "tools/tool.h"

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

/// What the task's list of tools leaves out of its MCP servers or names in vain, a line each.
/// @param offered  the servers' tools; of one that is not there the operator knows already
std::vector<std::string> notes_on_server_tools(const Task& task,
                                               const std::vector<std::unique_ptr<Tool>>& offered);

}  // namespace sortie
