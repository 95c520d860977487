#include "tools/commands/shell.h"

#include <cstdio>
#include <cstring>

#include "core/base/error.h"
#include "core/process/process.h"
#include "core/text/text.h"
#include "policies/environment/environment.h"
#include "policies/shell/lookup.h"
#include "tools/commands/command_output.h"
#include "tools/commands/embedded_patch.h"
#include "tools/workspace_path.h"

namespace sortie {
namespace {

constexpr const char* kParameters = R"({
  "type": "object",
  "properties": {
    "command": {"type": ["array", "string"], "items": {"type": "string"}, "minItems": 1,
                "description": "The program and its arguments. A string is a script for bash -c."},
    "workdir": {"type": "string",
                "description": "Working directory, inside the workspace. Default: the workspace."},
    "timeout_ms": {"type": "integer", "minimum": 1,
                   "description": "Time limit in milliseconds."},
    "with_escalated_permissions": {"type": "boolean",
                                   "description": "Requests the extra permissions that a policy rule grants to this exact command. No effect without such a rule."},
    "justification": {"type": "string",
                      "description": "Why they are needed, in one sentence. Only recorded."}
  },
  "required": ["command"],
  "additionalProperties": false
})";

std::vector<std::string> argv_of(const Json& command) {
  if (command.is_string()) return {"bash", "-c", command.text()};
  std::vector<std::string> argv;
  for (const auto& word : command.items()) argv.push_back(word.text());
  return argv;
}

/// A command that is killed this much before its own limit was killed since the run's time was up.
constexpr std::chrono::milliseconds kClose{100};

std::string seconds(std::chrono::milliseconds time) {
  char text[40];
  const double value = static_cast<double>(time.count()) / 1000;
  std::snprintf(text, sizeof text, time.count() % 1000 == 0 ? "%.0f" : "%.1f", value);
  return text;
}

std::string killed(const char* what, const std::string& detail) {
  return "Killed: " + (detail.empty() ? std::string(what) + " limit reached" : detail);
}

/// The first line of the output if the command was killed; "" if it ended by itself.
/// @param most  the policy's limits.command_timeout
std::string ending_line(const ExitStatus& exit, const Command& command,
                        std::chrono::milliseconds most) {
  switch (exit.ending) {
    case Ending::exited:
      // A program in the command hit a limit; the exit code shows it.
      return exit.detail;
    case Ending::signalled: {
      const char* name = ::sigabbrev_np(exit.code);
      return "Killed by signal " + std::to_string(exit.code) +
             (name ? std::string(" (SIG") + name + ")" : std::string()) +
             (exit.detail.empty() ? "" : ": " + exit.detail);
    }
    case Ending::timed_out:
      if (exit.duration + kClose < command.timeout)
        return "Killed after " + seconds(exit.duration) + " s: the run's time is up (budget.time)";
      return "Killed after " + seconds(command.timeout) +
             " s: " + (command.timeout < most ? "its timeout_ms" : "command_timeout");
    case Ending::output_limit:
      return "Killed after " + size_in_words(command.max_output_bytes) + " of output: output";
    case Ending::memory_limit:
      return killed("memory", exit.detail);
    case Ending::process_limit:
      return killed("process", exit.detail);
    case Ending::disk_limit:
      return killed("disk", exit.detail);
    case Ending::cancelled:
      return "Killed: the run was stopped";
    case Ending::not_started:
      return "Not started: " + exit.detail;
  }
  return "";
}

/// Variables that every command gets unless the policy sets them: PAGER=cat, CI=true, …
const std::map<std::string, std::string>& quiet_environment() {
  static const std::map<std::string, std::string> variables = {
      {"PAGER", "cat"},
      {"GIT_PAGER", "cat"},
      {"TERM", "dumb"},
      {"NO_COLOR", "1"},
      {"CI", "true"},
      {"GIT_TERMINAL_PROMPT", "0"},
      {"DEBIAN_FRONTEND", "noninteractive"}};
  return variables;
}

}  // namespace

std::map<std::string, std::string> command_variables(std::map<std::string, std::string> given) {
  for (const auto& [name, value] : quiet_environment()) given.try_emplace(name, value);
  std::erase_if(
      given, [](const auto& variable) { return starts_shells(variable.first, variable.second); });
  return given;
}

std::string result_head(const ExitStatus& exit, const CollectedOutput& output,
                        const Command& command, std::chrono::milliseconds most) {
  std::string head = ending_line(exit, command, most);
  if (!head.empty()) head += '\n';
  head += "Exit code: " + std::to_string(shell_code(exit)) + "\n";
  char time[60];
  std::snprintf(time, sizeof time, "Wall time: %.1f seconds\n",
                static_cast<double>(exit.duration.count()) / 1000);
  head += time;
  if (output.left_out_bytes > 0)
    head += "Total output lines: " + std::to_string(output.total_lines) + "\n";
  if (exit.ended_background) head += "Background processes were killed.\n";
  return head + "Output:\n";
}

Shell::Shell(ShellParts parts, ShellOptions options) : parts_(parts), options_(std::move(options)) {
  spec_.name = "shell";
  spec_.description =
      "Runs a command in the sandboxed workspace and returns its exit code and output. stdin is "
      "empty, there is no terminal, and nobody answers prompts. Background processes are killed "
      "when the command ends.";
  spec_.parameters = parse_json(kParameters);
}

Json Shell::renamed(Json arguments) const {
  for (auto& [name, value] : arguments.members()) {
    if (name == "cmd" && !arguments.find("command")) name = "command";
    if (name == "timeout" && !arguments.find("timeout_ms")) name = "timeout_ms";
  }
  return arguments;
}

Command Shell::command_of(const Json& arguments) const {
  Command command;
  command.argv = argv_of(arguments["command"]);
  const auto folder = workspace_path(arguments.string_at("workdir"), options_.workspace);
  const auto resolved = folder == "." ? folder : parts_.files.resolve(folder);
  const auto status = resolved == "." ? std::nullopt : parts_.files.status(resolved);
  if (resolved != "." && (!status || status->kind != FileStatus::Kind::folder))
    throw ToolError("workdir is not a folder in the workspace: " + folder.string());
  command.workdir = resolved == "." ? options_.workspace : options_.workspace / resolved;
  const std::chrono::milliseconds asked(
      arguments.integer_at("timeout_ms", options_.command_timeout.count()));
  command.timeout = std::min(asked, options_.command_timeout);
  command.max_output_bytes = options_.max_output_bytes;
  return command;
}

Json Shell::patch_of(const Json& arguments) const {
  if (!parts_.apply_patch) return {};
  return embedded_patch_arguments(
      argv_of(arguments["command"]),
      workspace_path(arguments.string_at("workdir"), options_.workspace), options_.workspace);
}

std::vector<Action> Shell::actions(const Json& arguments) const {
  if (const Json patch = patch_of(arguments); !patch.is_null()) {
    std::vector<Action> actions = parts_.apply_patch->actions(patch);
    actions.insert(actions.begin(), CallTool{parts_.apply_patch->spec().name});
    return actions;
  }
  Command command = command_of(arguments);
  return {RunCommand{.argv = std::move(command.argv),
                     .workdir = std::move(command.workdir),
                     .escalated = arguments["with_escalated_permissions"].boolean()}};
}

std::string Shell::why_not_escalated() const {
  const ConcurrentCommands beside =
      parts_.engine != nullptr ? parts_.engine->concurrent_commands() : ConcurrentCommands();
  const std::string writer = beside.unguarded ? beside.writer() : "";
  if (writer.empty()) return "no rule of the policy escalates this command";
  return "no command is escalated while " + writer +
         " is running and may write to the workspace: without namespaces it could change files "
         "that the command obeys (.git/config)";
}

std::string Shell::escalate(Command& command) const {
  std::optional<Escalation> granted;
  if (parts_.engine != nullptr)
    granted = parts_.engine->find_escalation({.argv = command.argv, .workdir = command.workdir});
  if (!granted) return "with_escalated_permissions had no effect: " + why_not_escalated();
  command.writes = granted->writes;
  command.read_only = granted->read_only;
  command.open_network = granted->network;
  // Ordinary commands may have left start-up files in HOME: escalated ones get their own.
  command.private_set_alone = true;
  std::string what = granted->writes ? "may write" : granted->read_only ? "may not write" : "";
  if (granted->network) what += what.empty() ? "reaches the network" : ", reaches the network";
  return "escalated by a rule: " + (what.empty() ? "nothing beyond the sandbox" : what);
}

std::optional<ToolResult> Shell::run_patch(const Json& arguments, std::stop_token stop) {
  const Json patch = patch_of(arguments);
  if (patch.is_null()) return std::nullopt;
  return parts_.apply_patch->run(patch, std::move(stop));
}

Command Shell::prepare(const Json& arguments, std::string& note) const {
  Command command = command_of(arguments);
  if (arguments["with_escalated_permissions"].boolean()) note = escalate(command);
  const auto script = shell_string(command.argv, options_.folders);
  command.environment = command_variables(options_.environment);
  if (command.open_network) remove_proxy(command.environment);
  if (parts_.engine != nullptr &&
      parts_.engine->holds_git({.argv = command.argv, .workdir = command.workdir})) {
    for (const auto& [name, value] : options_.git_environment) command.environment[name] = value;
  }
  // A shell without start-up files, so that exactly the script that was checked runs.
  if (script) {
    const std::string_view asked = base_name(command.argv.front());
    if (is_one_of(asked, {"dash", "zsh"}))
      note += (note.empty() ? "" : "; ") + std::string("run by bash, not ") + std::string(asked) +
              ": scripts are read and run as bash does";
    command.argv = shell_string_argv(*script);
    command.environment = shell_string_environment(std::move(command.environment));
  }
  return command;
}

ToolResult Shell::run(const Json& arguments, std::stop_token stop) {
  if (auto patched = run_patch(arguments, stop)) return *patched;
  std::string note;
  const Command command = prepare(arguments, note);
  CommandOutput output(parts_.redactor, options_.shown_output, parts_.outputs);
  const auto take = [&](std::string_view bytes) { output.feed(bytes); };
  const ExitStatus exit = run_command(parts_.launcher, command, take, stop);

  ToolResult result;
  result.collected = output.finish();
  result.head = result_head(exit, *result.collected, command, options_.command_timeout);
  result.success = exit.success();
  result.exit = exit;
  result.note = note;
  return result;
}

LocalShell::LocalShell(std::unique_ptr<Tool> shell) : shell_(std::move(shell)) {
  spec_ = shell_->spec();
  spec_.name = "local_shell";
  spec_.form = ToolCall::Form::local_shell;
}

}  // namespace sortie
