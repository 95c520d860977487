#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "core/process/launcher.h"
#include "core/secrets/redact.h"
#include "core/task/task.h"
#include "tools/commands/shell.h"
#include "tools/tool.h"

namespace sortie {

/// A tool that the task defines. Its program runs in the workspace like a command of the model,
/// under the same rules and in the same sandbox; its argv is the manifest's, with the call's
/// arguments in place of the placeholders.
class FunctionTool : public Tool {
 public:
  /// @param parts  its launcher, redactor, outputs and engine are used
  FunctionTool(TaskFunction function, const ShellParts& parts, ShellOptions options);
  bool reads_only() const override { return function_.read_only; }
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;

 private:
  Command command_of(const Json& arguments) const;
  ToolResult run_for_text(const Command& command, const std::string& input,
                          std::stop_token stop) const;
  ToolResult run_for_json(const Command& command, const std::string& input,
                          std::stop_token stop) const;

  TaskFunction function_;
  Launcher& launcher_;
  const Redactor& redactor_;
  SavedOutputs* outputs_;
  const Engine* engine_;
  ShellOptions options_;
};

}  // namespace sortie
