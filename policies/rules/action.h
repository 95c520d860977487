#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
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

/// The commands and servers that run while a command is decided, and would run concurrently.
struct ConcurrentCommands {
  struct Session {
    std::string name;  ///< "session 1"
    RunCommand command;
    bool may_write = true;  ///< to the workspace
  };
  std::vector<Session> sessions{};
  /// Other programs that may write to the workspace: "the MCP server docs".
  std::vector<std::string> writers{};

  /// Protected paths are not mounted read-only (no namespaces): `.git/config` is restored after
  /// each command, and a command with wider rights could read it before.
  bool unguarded = false;

  /// The first session or program that may write to the workspace, or "".
  std::string writer() const {
    for (const Session& session : sessions)
      if (session.may_write) return session.name;
    return writers.empty() ? "" : writers.front();
  }
};

using LookBeside = std::function<ConcurrentCommands()>;

/// A script of the workspace, compared with the start of the run.
struct ScriptFile {
  std::filesystem::path path;  ///< relative to the workspace, links resolved
  std::string problem;         ///< how it differs from the start, or ""
};

/// Checks the file at a path, resolved as the kernel does.
/// path: absolute, as the command names it, not normalised: "WORKDIR/./scripts/a.sh"
using ScriptFiles = std::function<ScriptFile(const std::filesystem::path& path)>;

/// Where a command is to run, for rules on paths.
struct CommandPlace {
  std::filesystem::path workspace;                 ///< absolute
  std::filesystem::path workdir;                   ///< absolute
  std::span<const std::filesystem::path> folders;  ///< where a command's name is looked up
  /// Checks a script's file; null: script rules decide by words alone.
  const ScriptFiles* scripts = nullptr;
  const ConcurrentCommands* beside = nullptr;  ///< null: none
};

}  // namespace sortie
