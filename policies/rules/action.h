#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace sortie {

/// A command to be run. A shell string is the argv {"sh", "-c", S}.
struct RunCommand {
  std::vector<std::string> argv;
  std::filesystem::path workdir;  ///< absolute
  bool escalated = false;         ///< the call asks for escalated permissions
  /// Set for a command that is already running: its new input, after the unfinished line before it.
  std::optional<std::string> input{};
};

struct ReadPath {
  std::filesystem::path path;  ///< relative to the workspace, or absolute
};

struct WritePath {
  std::filesystem::path path;  ///< relative to the workspace, links resolved
};

struct CallTool {
  std::string name;
  /// Other names that rules may use: "mcp:SERVER/TOOL" for a tool of an MCP server, and the full
  /// name if the model's is shortened.
  std::vector<std::string> other_names{};
  /// Its server can write to the workspace at any time, also in a read-only stage.
  bool may_write = false;
  /// A rule gives its server a sandbox of its own, which ordinary commands don't have.
  bool escalated = false;
};

/// One thing that a tool call does; a call is allowed when each of its actions is.
using Action = std::variant<RunCommand, ReadPath, WritePath, CallTool>;

}  // namespace sortie
