#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/task/task.h"
#include "tools/tool.h"

namespace sortie {

/// Whether the model gets `local_shell` instead of `shell`: it was trained with it, and its wire
/// format has it.
bool offers_local_shell(const TaskModel& model);

/// Whether the provider has its own web search.
bool offers_web_search(const TaskModel& model);

/// Whether the run has `view_image`: the model takes images, or that is unknown and the task or a
/// stage names the tool.
bool offers_view_image(const Task& task);

/// Whether a model of the task may search the web.
bool searches_web(const Task& task);

/// A line for each MCP server whose tools the task's list leaves out, and each tool of the list that
/// no server has.
/// @param offered  the tools of the servers that were started
std::vector<std::string> notes_on_server_tools(const Task& task,
                                               const std::vector<std::unique_ptr<Tool>>& offered);

}  // namespace sortie
