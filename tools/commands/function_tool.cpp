#include "tools/commands/function_tool.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/process/process.h"
#include "core/task/functions.h"
#include "core/text/text.h"
#include "policies/shell/conservative_words.h"
#include "policies/shell/lookup.h"
#include "tools/commands/command_output.h"

namespace sortie {
namespace {

/// Limit for a JSON result, which has to fit in memory; no model could use a longer one.
constexpr std::uint64_t kLongestJson = 16u << 20;
/// Limit for stderr output shown with the JSON.
constexpr std::size_t kShownErrors = 2048;

/// The JSON on one line, without the program's control characters and layout.
/// @throws JsonError
std::string normal_json(const std::string& text) { return write_large_json(parse_json(text)); }

}  // namespace

FunctionTool::FunctionTool(TaskFunction function, const ShellParts& parts, ShellOptions options)
    : function_(std::move(function)),
      launcher_(parts.launcher),
      redactor_(parts.redactor),
      outputs_(parts.outputs),
      engine_(parts.engine),
      options_(std::move(options)) {
  spec_.name = function_.name;
  spec_.description = function_.description;
  spec_.parameters = function_.parameters;
}

Command FunctionTool::command_of(const Json& arguments) const {
  Command command;
  command.argv = fill_argv(function_.run, function_.parameters, arguments);
  command.workdir = options_.workspace;
  command.timeout = options_.command_timeout;
  if (function_.timeout.count() > 0) command.timeout = std::min(command.timeout, function_.timeout);
  command.max_output_bytes = options_.max_output_bytes;
  command.read_only = function_.read_only;
  if (function_.input == TaskFunction::Input::json) command.input = CommandInput::pipe;
  return command;
}

std::vector<Action> FunctionTool::actions(const Json& arguments) const {
  Command command = command_of(arguments);
  return {RunCommand{.argv = std::move(command.argv), .workdir = std::move(command.workdir)}};
}

ToolResult FunctionTool::run(const Json& arguments, std::stop_token stop) {
  Command command = command_of(arguments);
  command.environment = command_variables(options_.environment);
  if (engine_ != nullptr && engine_->holds_git({.argv = command.argv, .workdir = command.workdir}))
    for (const auto& [name, value] : options_.git_environment) command.environment[name] = value;
  // A script of the manifest runs like one of the model: exactly as it was checked.
  if (const auto script = shell_string(command.argv, options_.folders)) {
    command.argv = shell_string_argv(*script);
    command.environment = shell_string_environment(std::move(command.environment));
  }
  const std::string input =
      command.input == CommandInput::pipe ? write_large_json(arguments) + "\n" : std::string();
  if (function_.output == TaskFunction::Output::json) return run_for_json(command, input, stop);
  return run_for_text(command, input, stop);
}

ToolResult FunctionTool::run_for_text(const Command& command, const std::string& input,
                                      std::stop_token stop) const {
  CommandOutput output(redactor_, options_.shown_output, outputs_);
  const CommandTraffic traffic{.output = [&](std::string_view bytes) { output.feed(bytes); },
                               .input = input};
  const ExitStatus exit = run_command(launcher_, command, traffic, std::move(stop));

  ToolResult result;
  result.collected = output.finish();
  result.head = result_head(exit, *result.collected, command);
  result.success = exit.success();
  result.exit = exit;
  return result;
}

ToolResult FunctionTool::run_for_json(const Command& given, const std::string& input,
                                      std::stop_token stop) const {
  Command command = given;
  command.errors_apart = true;
  std::string whole;
  bool too_long = false;
  CommandOutput output(redactor_, options_.shown_output, outputs_);
  CommandOutput errors(redactor_, kShownErrors);
  const CommandTraffic traffic{.output =
                                   [&](std::string_view bytes) {
                                     output.feed(bytes);
                                     too_long =
                                         too_long || whole.size() + bytes.size() > kLongestJson;
                                     if (!too_long) whole += bytes;
                                   },
                               .errors = [&](std::string_view bytes) { errors.feed(bytes); },
                               .input = input};
  const ExitStatus exit = run_command(launcher_, command, traffic, std::move(stop));

  ToolResult result;
  result.exit = exit;
  result.success = exit.success();
  std::string problem;
  try {
    if (too_long) throw JsonError("longer than " + size_in_words(kLongestJson), kLongestJson);
    CommandOutput normal(redactor_, options_.shown_output, outputs_);
    normal.feed(normal_json(whole));
    result.collected = normal.finish();
  } catch (const JsonError& error) {
    result.collected = output.finish();
    problem = std::string("The function declares JSON output, but stdout is not valid JSON: ") +
              error.what() + " at byte " + std::to_string(error.offset());
  }
  result.head = result_head(exit, *result.collected, command);
  // If the program failed, its exit code says more.
  if (!problem.empty() && result.success) {
    result.head = problem + "\n" + result.head;
    result.success = false;
  }
  const std::string shown_errors = errors.finish().shown;
  if (const std::string_view said = trimmed(shown_errors); !said.empty())
    result.note = "stderr: " + std::string(said);
  return result;
}

}  // namespace sortie
