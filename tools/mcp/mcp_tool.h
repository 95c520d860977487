#pragma once

#include "core/json/json.h"
#include "tools/mcp/server.h"
#include "tools/tool.h"

namespace sortie::mcp {

/// Converts the result of tools/call for the model and the transcript: text through plain_text(),
/// images as images, embedded resources as text, links and what can't be shown as one line each,
/// structured content as JSON unless a text says the same. `server_answer` is the server's
/// {"content","structured_content"}.
/// @param output_schema  schema of the structured content; null for none
ToolResult read_call_result(const Json& result, const Json& output_schema);

/// One tool of a server, as the model sees it. The server's own claims (readOnlyHint …) are not
/// trusted: only the policy decides whether a call is allowed, and calls run one after the other.
class McpTool : public Tool {
 public:
  /// @param server  outlives the tool
  /// @param name    from shown_names()
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
