#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace sortie {

/// A command to be run. A shell string stands as its argv: {"sh", "-c", S}.
struct RunCommand {
  std::vector<std::string> argv;
  std::filesystem::path workdir;  ///< absolute
  bool escalated = false;         ///< the call asks for more than the policy's sandbox
};

struct ReadPath {
  std::filesystem::path path;  ///< relative to the workspace, or absolute
};

struct WritePath {
  std::filesystem::path path;  ///< relative to the workspace, links resolved
};

struct CallTool {
  std::string name;
};

/// What a tool call wants to do; a call is allowed when each of its actions is.
using Action = std::variant<RunCommand, ReadPath, WritePath, CallTool>;

}  // namespace sortie
