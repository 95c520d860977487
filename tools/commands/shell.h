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

/// The collaborators of the shell tool; all of them outlive it.
struct ShellParts {
  Launcher& launcher;
  const Files& files;               ///< the workspace, to check that a workdir exists
  const Redactor& redactor;         ///< applied before the output is cut
  Tool* apply_patch = nullptr;      ///< runs patches found in calls; null: they are commands
  const Engine* engine = nullptr;   ///< grants escalated permissions; null: there are none
  SavedOutputs* outputs = nullptr;  ///< keeps outputs that are cut; null: they are not kept
};

struct ShellOptions {
  std::filesystem::path workspace{};  ///< absolute, as commands see it
  std::map<std::string, std::string> environment{};
  std::map<std::string, std::string> git_environment{};  ///< added where Engine::holds_git()
  /// Where the program of a shell command ("bash -c …") is looked up.
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

  /// Runs the call as a patch; nothing if it is not a patch.
  std::optional<ToolResult> run_patch(const Json& arguments, std::stop_token stop);
  /// The command of a call that is not a patch, ready to start.
  /// @param note  set to a note for the model, if there is one
  Command prepare(const Json& arguments, std::string& note) const;

 private:
  Command command_of(const Json& arguments) const;
  /// Grants the command what the policy's rules allow. @return  a note for the model
  std::string escalate(Command& command) const;
  std::string why_not_escalated() const;
  /// The call as arguments of apply_patch; null if it is not a patch.
  Json patch_of(const Json& arguments) const;

  ShellParts parts_;
  ShellOptions options_;
};

/// The environment of a command: the given and the quiet variables, without any that run code in
/// shells.
std::map<std::string, std::string> command_variables(std::map<std::string, std::string> given);

/// "Exit code: 0\nWall time: 1.2 seconds\n…Output:\n", preceded by what killed the command, if any.
/// @param most  the policy's limits.command_timeout, if the call may ask for less
std::string result_head(const ExitStatus& exit, const CollectedOutput& output,
                        const Command& command, std::chrono::milliseconds most = {});

/// `local_shell`: the shell tool that some models were trained with, replacing `shell`. Calls
/// differ from those of `shell` only in their form: arguments, actions, rules and output are the
/// same.
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
