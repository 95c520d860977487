#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/process/launcher.h"
#include "core/secrets/redact.h"
#include "policies/engine/engine.h"
#include "tools/saved_outputs.h"
#include "tools/tool.h"

namespace sortie {

/// What the shell tool works with; all of it outlives the tool.
struct ShellParts {
  Launcher& launcher;
  const Files& files;           ///< the workspace, to tell whether a working folder exists in it
  const Redactor& redactor;     ///< applied before the output is cut
  Tool* apply_patch = nullptr;  ///< runs the patches found in calls; nothing: they are commands
  /// Says what a call gets that asks for escalated permissions; nothing: none gets any.
  const Engine* engine = nullptr;
  /// Keeps the outputs that are shown in part; nothing: they are kept nowhere.
  SavedOutputs* outputs = nullptr;
};

struct ShellOptions {
  std::filesystem::path workspace{};  ///< absolute, as commands see it
  std::map<std::string, std::string> environment{};
  std::map<std::string, std::string> git_environment{};  ///< added where Engine::holds_git()
  /// In which a shell's name is looked up: a shell string names one of them.
  std::vector<std::filesystem::path> folders{};
  std::chrono::milliseconds command_timeout{std::chrono::minutes(10)};
  std::uint64_t max_output_bytes = 64ull << 20;
  std::size_t shown_output = 10u << 10;
};

/// `shell`: one command with a time limit.
class Shell : public Tool {
 public:
  Shell(ShellParts parts, ShellOptions options);
  Json renamed(Json arguments) const override;
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;

  /// Runs the patch that the call is; nothing where it is none.
  std::optional<ToolResult> run_patch(const Json& arguments, std::stop_token stop);
  /// The command of a call that is no patch, ready to be started.
  /// @param note  set to what the model is to be told of it, where there is something
  Command prepare(const Json& arguments, std::string& note) const;

 private:
  Command command_of(const Json& arguments) const;
  /// Gives the command what the policy's rules grant it; what to tell the model.
  std::string escalate(Command& command) const;
  std::string why_not_escalated() const;
  /// The patch that the call is, as arguments of apply_patch; null where it is none.
  Json patch_of(const Json& arguments) const;

  ShellParts parts_;
  ShellOptions options_;
};

/// The variables that every command gets unless the policy sets them: PAGER=cat, CI=true, ….
const std::map<std::string, std::string>& quiet_environment();

/// The environment of a command: what is given, those, and nothing that starts shells.
std::map<std::string, std::string> command_variables(std::map<std::string, std::string> given);

/// "Exit code: 0\nWall time: 1.2 seconds\n…Output:\n", or first what ended the command.
std::string result_head(const ExitStatus& exit, const CollectedOutput& output,
                        const Command& command);

/// `local_shell`: the shell tool that some models were trained with, in place of `shell`. Its calls
/// are calls of `shell` in all but their form: the same arguments, actions, rules and output.
class LocalShell : public Tool {
 public:
  explicit LocalShell(std::unique_ptr<Tool> shell);
  Json renamed(Json arguments) const override { return shell_->renamed(std::move(arguments)); }
  std::vector<Action> actions(const Json& arguments) const override {
    return shell_->actions(arguments);
  }
  ToolResult run(const Json& arguments, std::stop_token stop) override {
    return shell_->run(arguments, std::move(stop));
  }

 private:
  std::unique_ptr<Tool> shell_;
};

}  // namespace sortie
