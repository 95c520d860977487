#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace sortie {

/// A command to be run. A shell string stands as its argv: {"sh", "-c", S}.
struct RunCommand {
  std::vector<std::string> argv;
  std::filesystem::path workdir;  ///< absolute
  bool escalated = false;         ///< the call asks for more than the policy's sandbox
  /// Set where it runs already: what is to be typed into it, the unfinished line before included.
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
  /// Other names that rules may mean it by: "mcp:SERVER/TOOL" for a tool of an MCP server, and the
  /// name that the model's was cut from.
  std::vector<std::string> other_names{};
  /// What runs it may write to the workspace all the time, whatever a stage says of commands.
  bool may_write = false;
  /// A rule gives what runs it a sandbox of its own, which ordinary commands have not.
  bool escalated = false;
};

/// What a tool call wants to do; a call is allowed when each of its actions is.
using Action = std::variant<RunCommand, ReadPath, WritePath, CallTool>;

}  // namespace sortie
