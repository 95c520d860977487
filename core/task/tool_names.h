#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// A tool that sortie brings.
struct BuiltInTool {
  const char* name;
  enum class Default {
    on,   ///< a run has it unless the task lists its tools
    off,  ///< only where the task's list names it
  } by_default = Default::on;
};

/// All of them, in the order in which the model is shown them.
std::span<const BuiltInTool> built_in_tools();
std::vector<std::string> built_in_tool_names();

/// Nothing where sortie brings no tool of that name.
std::optional<BuiltInTool::Default> find_built_in_tool(std::string_view name);

/// Whether the name is one that tools of MCP servers have: "mcp__SERVER__TOOL".
bool is_mcp_tool(std::string_view name);

/// Whether the word of a list of tools means the tool: its name, `shell` and `local_shell` for each
/// other, `exec_command` and `write_stdin` likewise, or a glob of an MCP server's tools,
/// "mcp__docs__*".
bool means_tool(const std::string& word, const std::string& tool);

/// Whether the word, a name or a glob of MCP servers' tools, can mean one of this server's.
bool may_mean_tool_of(std::string_view word, const std::string& server);

/// In a task's list of tools: the built-in ones that are on by default, and all that the task
/// itself configures.
inline constexpr const char* kDefaultTools = "default";

/// Whether a run has the tool, as far as the task says.
/// @param enabled  the task's list; empty: kDefaultTools
bool enables_tool(const std::vector<std::string>& enabled, const std::string& tool);

}  // namespace sortie
