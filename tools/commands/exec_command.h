#pragma once

#include <cstddef>
#include <memory>

#include "tools/commands/exec_sessions.h"
#include "tools/commands/shell.h"
#include "tools/tool.h"

namespace sortie {

/// `exec_command`: starts a command, waits a little, and lets it go on as a session.
class ExecCommand : public Tool {
 public:
  /// @param shell     reads the commands as the tool `shell` does, patches in them too
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

/// `write_stdin`: types into a session, waits a little, and says what it printed since.
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
