#include "app/show/event_items.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/process/launcher.h"
#include "core/text/display_width.h"
#include "core/text/output_buffer.h"
#include "core/text/shell_quote.h"
#include "core/text/text.h"
#include "tools/commands/embedded_patch.h"
#include "tools/patch/parser.h"
#include "tools/workspace_path.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// The server name that is shown for built-in tools.
constexpr const char* kOwnServer = "sortie";

constexpr int kNotStarted = -1;
constexpr int kKilled = 137;  // by SIGKILL

int exit_code_of(const ExitStatus& exit) {
  return exit.ending == Ending::not_started ? kNotStarted : shell_code(exit);
}

/// Why a command did not end by itself, or "".
std::string reason_of(const ExitStatus& exit) {
  if (exit.ending == Ending::exited || exit.ending == Ending::signalled) return {};
  return name_of(exit.ending) + (exit.detail.empty() ? "" : ": " + exit.detail);
}

const char* status_of(const ToolOutputRecord& output) {
  if (!output.declined.empty()) return "declined";
  return output.success ? "completed" : "failed";
}

std::vector<std::string> words_of(const Json& argv) {
  std::vector<std::string> words;
  for (const Json& word : argv.items()) words.push_back(word.text());
  return words;
}

Json command_item(const std::string& command) {
  return Json::object({{"type", "command_execution"},
                       {"command", command},
                       {"aggregated_output", ""},
                       {"exit_code", Json()},
                       {"status", "in_progress"}});
}

/// The first command among the actions, if there is one.
const std::vector<std::string>* argv_of(const std::vector<RecordedAction>& actions) {
  for (const RecordedAction& action : actions)
    if (action.kind == ActionKind::run_command) return action.argv ? &*action.argv : nullptr;
  return nullptr;
}

Json arguments_of(const ToolCall& call) {
  if (call.form == ToolCall::Form::custom) return Json::object({{"input", call.arguments}});
  if (call.arguments.empty()) return Json::object();
  try {
    return parse_json(call.arguments);
  } catch (const JsonError&) {
    return call.arguments;  // as it came
  }
}

/// The member that holds the command of a shell call, under any of the names that models use.
const Json& command_of(const Json& arguments) {
  for (const char* name : {"command", "cmd"})
    if (const Json* command = arguments.find(name)) return *command;
  return arguments["argv"];
}

bool runs_commands(const std::string& tool) {
  return tool == "shell" || tool == "local_shell" || tool == "exec_command";
}

const char* kind_of(patch::Hunk::Kind kind) {
  switch (kind) {
    case patch::Hunk::Kind::add:
      return "add";
    case patch::Hunk::Kind::remove:
      return "delete";
    case patch::Hunk::Kind::update:
      break;
  }
  return "update";
}

/// The changes of a patch by its text; none if that is invalid.
Json changes_of(const std::string& text, const std::string& folder) {
  const auto placed = [&folder](const std::string& path) {
    return folder.empty() ? path : (fs::path(folder) / path).lexically_normal().string();
  };
  Json changes = Json::array();
  try {
    for (const patch::Hunk& hunk : patch::parse_patch(text)) {
      Json change = Json::object({{"path", placed(hunk.path)}, {"kind", kind_of(hunk.kind)}});
      if (hunk.move_to) change.set("move_path", placed(*hunk.move_to));
      changes.push_back(std::move(change));
    }
  } catch (const ToolError&) {
    return Json::array();
  }
  return changes;
}

PatchLines count_lines_of_patch(const std::string& text) {
  PatchLines lines;
  try {
    for (const patch::Hunk& hunk : patch::parse_patch(text)) {
      lines.added += std::count(hunk.content.begin(), hunk.content.end(), '\n');
      for (const patch::Chunk& chunk : hunk.chunks)
        for (const patch::ChunkLine& line : chunk.lines) {
          lines.added += line.kind == patch::ChunkLine::Kind::added ? 1 : 0;
          lines.removed += line.kind == patch::ChunkLine::Kind::removed ? 1 : 0;
        }
    }
  } catch (const ToolError&) {
    return {};
  }
  return lines;
}

Json change_item(Json changes) {
  return Json::object(
      {{"type", "file_change"}, {"changes", std::move(changes)}, {"status", "in_progress"}});
}

std::vector<std::string> argv_of_shell_call(const Json& arguments) {
  const Json& command = command_of(arguments);
  return command.is_string() ? std::vector<std::string>{"bash", "-c", command.text()}
                             : words_of(command);
}

/// The changes of a patch inside a shell call; nothing if it has none.
std::optional<Json> embedded_changes(const Json& arguments, const fs::path& workspace) {
  const std::vector<std::string> argv = argv_of_shell_call(arguments);
  if (!find_embedded_patch(argv)) return std::nullopt;
  try {
    const Json patch = embedded_patch_arguments(
        argv, workspace_path(arguments.string_at("workdir"), workspace), workspace);
    const std::string folder = patch.string_at("workdir");
    return changes_of(patch.string_at("input"), folder == "." ? "" : folder);
  } catch (const ToolError&) {  // it leads out of the workspace, and is refused
    return Json::array();
  }
}

Json server_item(const ToolCalled& called, Json arguments) {
  const ToolOrigin origin = called.origin.value_or(ToolOrigin{kOwnServer, called.call.name});
  return Json::object({{"type", "mcp_tool_call"},
                       {"server", origin.server},
                       {"tool", origin.tool},
                       {"arguments", std::move(arguments)},
                       {"result", Json()},
                       {"error", Json()},
                       {"status", "in_progress"}});
}

/// For a command that succeeded but printed an invalid result.
void fail_result(Json& item, const ToolOutputRecord& output) {
  const std::string shown = output.shown.value_or("");
  const std::string first = shown.substr(0, shown.find('\n'));
  item.set("status", "failed");
  if (!first.empty() && !first.starts_with("Exit code: ")) item.set("reason", first);
}

void complete_command(Json& item, const ToolOutputRecord& output) {
  item.set("aggregated_output", shortened_output(output.output));
  const std::string status = status_of(output);
  if (output.exit) {
    set_exit(item, *output.exit);
    if (status == "failed" && item.string_at("status") == "completed") fail_result(item, output);
    return;
  }
  item.set("exit_code", status == "completed" ? 0 : kNotStarted);
  item.set("status", status);
}

void complete_change(Json& item, const ToolOutputRecord& output) {
  const std::string status = status_of(output);
  item.set("status", status);
  if (status == "failed") item.set("reason", shortened_output(output.output));
}

void complete_server_call(Json& item, const ToolOutputRecord& output) {
  const std::string status = status_of(output);
  const CallDetails& answer = output.details;
  const std::string text = shortened_output(output.output);
  item.set("status", status);
  // What a server calls an error is its answer all the same.
  if (answer.content.is_array()) {
    Json result = Json::object({{"content", answer.content}});
    if (answer.meta.is_object()) result.set("_meta", answer.meta);
    result.set("structured_content", answer.structured_content);
    item.set("result", std::move(result));
  } else if (status == "completed") {
    Json content = Json::array({Json::object({{"type", "text"}, {"text", text}})});
    item.set("result",
             Json::object({{"content", std::move(content)}, {"structured_content", Json()}}));
  } else {
    item.set("error", Json::object({{"message", text}}));
  }
}

}  // namespace

std::string left_out_text(const FallbackRecord& record) {
  const auto counted = [](int count, const char* one, const char* more) {
    return count == 0 ? "" : words_of_count(count) + " " + (count == 1 ? one : more);
  };
  const std::string images = counted(record.dropped_images, "image", "images");
  const std::string items = counted(record.dropped - record.dropped_images,
                                    "item of reasoning or search", "items of reasoning or search");
  return images + (images.empty() || items.empty() ? "" : " and ") + items;
}

std::string shortened_output(const std::string& output) {
  if (output.size() <= kMostItemOutput) return output;
  HeadTail cut(kMostItemText);
  cut.feed(output);
  return cut.render();
}

Json said_item(const Said& said) {
  if (said.kind == Said::Kind::web_search)
    return Json::object({{"type", "web_search"}, {"query", said.text}, {"action", said.action}});
  const bool message = said.kind == Said::Kind::message;
  return Json::object({{"type", message ? "agent_message" : "reasoning"}, {"text", said.text}});
}

Json started_item(const ToolCalled& called, const std::vector<RecordedAction>& actions,
                  const fs::path& workspace) {
  const std::string& tool = called.call.name;
  Json arguments = arguments_of(called.call);
  if (tool == "apply_patch") return change_item(changes_of(arguments.string_at("input"), {}));
  if (const auto* argv = argv_of(actions)) return command_item(shell_line(*argv));
  if (runs_commands(tool)) {
    if (auto changes = embedded_changes(arguments, workspace))
      return change_item(std::move(*changes));
    const Json& command = command_of(arguments);
    return command_item(command.is_array()    ? shell_line(words_of(command))
                        : command.is_string() ? command.text()
                                              : called.call.arguments);
  }
  return server_item(called, std::move(arguments));
}

PatchLines patch_lines(const ToolCalled& called, const fs::path& workspace) {
  const Json arguments = arguments_of(called.call);
  if (called.call.name == "apply_patch") return count_lines_of_patch(arguments.string_at("input"));
  if (!runs_commands(called.call.name)) return {};
  const std::vector<std::string> argv = argv_of_shell_call(arguments);
  if (!find_embedded_patch(argv)) return {};
  try {
    return count_lines_of_patch(
        embedded_patch_arguments(argv, workspace_path(arguments.string_at("workdir"), workspace),
                                 workspace)
            .string_at("input"));
  } catch (const ToolError&) {  // it leads out of the workspace, and is refused
    return {};
  }
}

void complete_item(Json& item, const ToolOutputRecord& output) {
  const std::string type = item.string_at("type");
  if (type == "command_execution")
    complete_command(item, output);
  else if (type == "file_change")
    complete_change(item, output);
  else
    complete_server_call(item, output);
  if (!output.declined.empty()) item.set("reason", output.declined);
}

void abandon_item(Json& item) {
  const std::string type = item.string_at("type");
  if (type == "todo_list") return;  // has no status: the list as it stands
  if (type == "command_execution") item.set("exit_code", kKilled);
  if (type == "mcp_tool_call")
    item.set("error", Json::object({{"message", "the run ended before it did"}}));
  item.set("status", "failed");
  item.set("reason", "the run ended before it did");
}

Json verification_item(const VerificationRecord& record) {
  Json item = command_item(record.command);
  item.set("verification",
           Json::object({{"phase", name_of(record.phase)}, {"round", record.round}}));
  return item;
}

void complete_verification(Json& item, const VerificationCompleted& record,
                           const std::string& output) {
  item.set("aggregated_output", shortened_output(output));
  set_exit(item, record.exit);
}

void set_exit(Json& item, const ExitStatus& exit) {
  const int code = exit_code_of(exit);
  item.set("exit_code", code);
  item.set("status", code == 0 ? "completed" : "failed");
  if (std::string reason = reason_of(exit); !reason.empty()) item.set("reason", std::move(reason));
}

Json todo_item(const PlanUpdated& plan) {
  Json items = Json::array();
  for (const PlanStep& step : plan.read_steps())
    items.push_back(Json::object({{"text", step.step}, {"completed", step.status == "completed"}}));
  return Json::object({{"type", "todo_list"}, {"items", std::move(items)}});
}

Json warning_item(const std::string& message) {
  return Json::object({{"type", "error"}, {"message", message}});
}

}  // namespace sortie
