#include "app/inputs/tool_choice.h"

#include <algorithm>

#include "core/catalog/model_family.h"
#include "core/provider/wires.h"
#include "core/task/tool_names.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// Whether the model's wire format has the provider's own tool; a recording may have any.
bool may_have(const TaskModel& model, ToolCall::Form tool) {
  return model.provider == "replay" ||
         make_wire(provider_named(model.provider).wire)->has_tool(tool);
}

using Tools = std::vector<std::unique_ptr<Tool>>;

Tools::const_iterator find_tool_of(const std::string& server, const Tools& tools) {
  return std::find_if(tools.begin(), tools.end(), [&server](const auto& tool) {
    return tool->origin().string_at("server") == server;
  });
}

}  // namespace

bool offers_local_shell(const TaskModel& model) {
  return knows_local_shell(model.name) && may_have(model, ToolCall::Form::local_shell);
}

bool offers_web_search(const TaskModel& model) {
  return may_have(model, ToolCall::Form::web_search);
}

bool offers_view_image(const Task& task) {
  switch (takes_images(task.model.provider, task.model.name)) {
    case TakesImages::yes:
      return true;
    case TakesImages::no:
      return false;
    case TakesImages::unknown:
      break;
  }
  const auto names_it = [](const std::vector<std::string>& tools) {
    return std::find(tools.begin(), tools.end(), "view_image") != tools.end();
  };
  return names_it(task.tools) ||
         std::any_of(task.stages.begin(), task.stages.end(),
                     [&](const TaskStage& stage) { return names_it(stage.tools); });
}

bool searches_web(const Task& task) {
  const auto& others = task.model.fallback;
  return enables_tool(task.tools, "web_search") &&
         (offers_web_search(task.model) ||
          std::any_of(others.begin(), others.end(), offers_web_search));
}

std::vector<std::string> notes_on_server_tools(const Task& task, const Tools& offered) {
  std::vector<std::string> notes;
  for (const TaskMcpServer& server : task.mcp) {
    const bool any = find_tool_of(server.name, offered) != offered.end();
    const bool kept = std::any_of(offered.begin(), offered.end(), [&](const auto& tool) {
      return tool->origin().string_at("server") == server.name &&
             enables_tool(task.tools, tool->spec().name);
    });
    if (any && !kept)
      notes.push_back("tools.enable leaves out all tools of the MCP server " + server.name +
                      " (mcp__" + server.name + "__*)");
  }
  for (const std::string& word : task.tools) {
    if (!is_mcp_tool(word)) continue;
    const bool found = std::any_of(offered.begin(), offered.end(), [&word](const auto& tool) {
      return means_tool(word, tool->spec().name);
    });
    // A server that was not started may have the tool, and another may get it later.
    const bool all_there =
        std::all_of(task.mcp.begin(), task.mcp.end(), [&](const TaskMcpServer& server) {
          return !may_mean_tool_of(word, server.name) ||
                 find_tool_of(server.name, offered) != offered.end();
        });
    if (!found && all_there)
      notes.push_back("tools.enable: no MCP server has a tool '" + one_line(word, 80) + "' yet");
  }
  return notes;
}

}  // namespace sortie
