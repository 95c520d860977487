#pragma once

#include <cstddef>
#include <memory>

#include "tools/commands/exec_sessions.h"
#include "tools/commands/shell.h"
#include "tools/tool.h"

namespace sortie {

/// `exec_command`: starts a command, waits briefly, and lets it continue as a session.
class ExecCommand : public Tool {
 public:
  /// @param shell     reads the commands, and patches in them, as the tool `shell` does
  /// @param sessions  outlives the tool
  ExecCommand(std::unique_ptr<Shell> shell, ExecSessions& sessions, std::size_t shown_output);
  Json renamed(Json arguments) const override;
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;

 private:
  std::unique_ptr<Shell> shell_;
  ExecSessions& sessions_;
  std::size_t shown_output_;
};

/// `write_stdin`: types into a session, waits briefly, and returns its new output.
class WriteStdin : public Tool {
 public:
  /// @param sessions  outlives the tool
  WriteStdin(ExecSessions& sessions, std::size_t shown_output);
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;

 private:
  ExecSessions& sessions_;
  std::size_t shown_output_;
};

}  // namespace sortie
