#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "policies/rules/action.h"

namespace sortie {

/// What runs while a command is decided on, and would go on beside it.
struct ConcurrentCommands {
  struct Session {
    std::string name;  ///< "session 1"
    RunCommand command;
    bool may_write = true;  ///< to the workspace
  };
  std::vector<Session> sessions{};
  /// Other programs that may write to the workspace: "the MCP server docs".
  std::vector<std::string> writers{};

  /// No mount keeps what may write from protected paths, as without namespaces: `.git/config` is
  /// put back after each command, and what has wider rights could obey it before.
  bool unguarded = false;

  /// The first that may write to the workspace, or "".
  std::string writer() const {
    for (const Session& session : sessions)
      if (session.may_write) return session.name;
    return writers.empty() ? "" : writers.front();
  }
};

using LookBeside = std::function<ConcurrentCommands()>;

/// What stands at the path of a script of the workspace, against the start of the run.
struct ScriptFile {
  std::filesystem::path path;  ///< relative to the workspace, links resolved
  std::string problem;         ///< why it is not as it was at the start; "" where it is
};

/// Looks at the file that a path means, as the kernel would resolve it.
/// path: absolute, as the command names it, not normalised: "WORKDIR/./scripts/a.sh"
using ScriptFiles = std::function<ScriptFile(const std::filesystem::path& path)>;

/// Where a command is to run, for the rules that judge paths.
struct CommandPlace {
  std::filesystem::path workspace;                 ///< absolute
  std::filesystem::path workdir;                   ///< absolute
  std::span<const std::filesystem::path> folders;  ///< in which a command's name is looked up
  /// What stands at a script's path now; nothing: script rules judge by words alone.
  const ScriptFiles* scripts = nullptr;
  const ConcurrentCommands* beside = nullptr;  ///< what runs already; nothing: nothing does
};

}  // namespace sortie
