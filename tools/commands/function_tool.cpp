#include "tools/commands/function_tool.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/process/process.h"
#include "core/task/argv_template.h"
#include "core/text/text.h"
#include "policies/shell/conservative_words.h"
#include "policies/shell/lookup.h"
#include "tools/commands/command_output.h"

namespace sortie {
namespace {

/// A longer result is none that a model could use, and has to stand in memory whole.
constexpr std::uint64_t kLongestJson = 16u << 20;
/// Of what a program says on stderr beside its JSON.
constexpr std::size_t kShownErrors = 2048;

/// The value as one line, so that no control character or layout of the program's comes through.
/// @throws JsonError
std::string normal_json(const std::string& text) { return write_large_json(parse_json(text)); }

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

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
  // A script of the manifest is run as the model's would be: as it was read.
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
    problem = std::string("The output is declared to be JSON and is not: ") + error.what() +
              " at byte " + std::to_string(error.offset());
  }
  result.head = result_head(exit, *result.collected, command);
  // Of a program that failed its end says more.
  if (!problem.empty() && result.success) {
    result.head = problem + "\n" + result.head;
    result.success = false;
  }
  if (const std::string said = trimmed(errors.finish().shown); !said.empty())
    result.note = "on stderr: " + said;
  return result;
}

}  // namespace sortie
