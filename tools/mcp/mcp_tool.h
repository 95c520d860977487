#pragma once

#include "tools/mcp/server.h"
#include "tools/tool.h"

namespace sortie::mcp {

/// One tool of a server as the model knows it. Nothing that a server says of its tools
/// (readOnlyHint …) is believed: whether a call may be made is the policy's word alone, and calls
/// are made one after the other.
class McpTool : public Tool {
 public:
  /// @param server  outlives the tool
  /// @param name    of shown_names()
  McpTool(Server& server, ServerTool tool, std::string name);

  const ToolSpec& spec() const override { return spec_; }
  Json origin() const override;
  CallTool identity() const override;
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;

 private:
  Server& server_;
  ServerTool tool_;
  ToolSpec spec_;
};

}  // namespace sortie::mcp
