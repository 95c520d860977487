#pragma once

#include "core/json/json.h"
#include "tools/mcp/server.h"
#include "tools/tool.h"

namespace sortie::mcp {

/// What the model and the transcript get of the result of tools/call: text as plain_text() has it,
/// images as images, embedded resources by their text, links and what can't be shown by a line,
/// structured content as JSON where no text says the same. `server_answer` is
/// {"content","structured_content"}, as the server said it.
/// @param output_schema  of the structured content; null for none
ToolResult read_call_result(const Json& result, const Json& output_schema);

/// One tool of a server as the model knows it. Nothing that a server says of its tools
/// (readOnlyHint …) is believed: whether a call may be made is the policy's word alone, and calls
/// are made one after the other.
class McpTool : public Tool {
 public:
  /// @param server  outlives the tool
  /// @param name    of shown_names()
  McpTool(Server& server, ServerTool tool, std::string name);

  Json origin() const override;
  CallTool identity() const override;
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;

 private:
  Server& server_;
  ServerTool tool_;
};

}  // namespace sortie::mcp
