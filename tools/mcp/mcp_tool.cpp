#include "tools/mcp/mcp_tool.h"

#include <utility>

#include "tools/mcp/call_result.h"

namespace sortie::mcp {

McpTool::McpTool(Server& server, ServerTool tool, std::string name)
    : server_(server), tool_(std::move(tool)) {
  spec_ = {
      .name = std::move(name), .description = tool_.description, .parameters = tool_.parameters};
}

Json McpTool::origin() const {
  return Json::object({{"server", server_.settings().name}, {"tool", tool_.name}});
}

CallTool McpTool::identity() const {
  const ToolIdentity identity{server_.settings().name, tool_.name};
  return {.name = spec_.name,
          .other_names = {full_name(identity), "mcp:" + identity.server + "/" + identity.tool},
          .may_write = server_.settings().may_write,
          .escalated = server_.settings().ahead};
}

std::vector<Action> McpTool::actions(const Json& /*arguments*/) const { return {}; }

ToolResult McpTool::run(const Json& arguments, std::stop_token stop) {
  const Json result = server_.call(tool_.name, arguments, std::move(stop));
  ToolResult read = read_call_result(result, tool_.output_schema);
  read.worked_on_files = server_.settings().may_write;
  return read;
}

}  // namespace sortie::mcp
