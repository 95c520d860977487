#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// A built-in tool.
struct BuiltInTool {
  const char* name;
  enum class Default {
    on,   ///< a run has it unless the task lists its tools
    off,  ///< only if the task's list names it
  } by_default = Default::on;
};

/// The words of a tool choice that are no tool's name.
inline constexpr const char* kToolChoices[] = {"auto", "none", "required"};

/// All built-in tools, in the order in which the model gets them.
std::span<const BuiltInTool> built_in_tools();
std::vector<std::string> built_in_tool_names();

/// Nothing if there is no built-in tool of that name.
std::optional<BuiltInTool::Default> find_built_in_tool(std::string_view name);

/// Whether the name is that of an MCP server's tool: "mcp__SERVER__TOOL".
bool is_mcp_tool(std::string_view name);

/// Whether the entry of a list of tools means the tool. It may be the tool's name or a glob of MCP
/// tools, "mcp__docs__*"; `shell` and `local_shell` mean each other, as do `exec_command` and
/// `write_stdin`.
bool means_tool(const std::string& word, const std::string& tool);

/// Whether the word, a name or a glob of MCP tools, may mean a tool of this server.
bool may_mean_tool_of(std::string_view word, const std::string& server);

/// The entry of a task's list of tools that means the built-in tools that are on by default, and all
/// tools that the task itself configures.
inline constexpr const char* kDefaultTools = "default";

/// The only entry of a list of tools that is empty in the file: no tool can have that name.
inline constexpr const char* kNoTools = "[]";

/// Whether the task gives a run the tool.
/// @param enabled  the task's list; empty: kDefaultTools; kNoTools: none
bool enables_tool(const std::vector<std::string>& enabled, const std::string& tool);

}  // namespace sortie
