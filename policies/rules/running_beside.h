#pragma once

#include <functional>
#include <string>
#include <vector>

#include "policies/rules/action.h"

namespace sortie {

/// What runs while a command is decided on, and would go on beside it.
struct RunningBeside {
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
  std::string writer() const;
};

using LookBeside = std::function<RunningBeside()>;

}  // namespace sortie
