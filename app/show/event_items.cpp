#include "app/show/event_items.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/text/output_buffer.h"
#include "core/text/text.h"
#include "tools/commands/embedded_patch.h"
#include "tools/patch/parser.h"
#include "tools/workspace_path.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// The server that built-in tools are shown as tools of.
constexpr const char* kOwnServer = "sortie";

constexpr int kNotStarted = -1;
constexpr int kTimedOut = 124;   // as timeout(1), and as codex
constexpr int kCancelled = 130;  // as of SIGINT
constexpr int kKilled = 137;     // by SIGKILL, at a limit

int exit_code_of(const Json& exit) {
  const std::string ending = exit.string_at("ending");
  const int code = static_cast<int>(exit.integer_at("code"));
  if (ending == "exited") return code;
  if (ending == "signalled") return 128 + code;
  if (ending == "not_started") return kNotStarted;
  if (ending == "timed_out") return kTimedOut;
  return ending == "cancelled" ? kCancelled : kKilled;
}

/// Why a command did not end by itself; "" where it did.
std::string reason_of(const Json& exit) {
  const std::string ending = exit.string_at("ending");
  if (ending.empty() || ending == "exited" || ending == "signalled") return {};
  const std::string detail = exit.string_at("detail");
  return ending + (detail.empty() ? "" : ": " + detail);
}

/// Text in the parts of a message: of all kinds that the wires have.
std::string text_of(const Json& content) {
  if (content.is_string()) return content.text();
  std::string text;
  for (const Json& part : content.items())
    text +=
        part.string_at("type") == "refusal" ? part.string_at("refusal") : part.string_at("text");
  return text;
}

std::string summary_of(const Json& summary) {
  if (summary.is_string()) return summary.text();
  std::string text;
  for (const Json& part : summary.items())
    text += (text.empty() ? "" : "\n\n") + part.string_at("text");
  return text;
}

void add_text(const char* type, const std::string& text, std::vector<Json>& items) {
  if (!text.empty()) items.push_back(Json::object({{"type", type}, {"text", text}}));
}

Json web_search(const std::string& query, Json action) {
  return Json::object({{"type", "web_search"}, {"query", query}, {"action", std::move(action)}});
}

Json openai_web_search(const Json& received) {
  const Json& action = received["action"];
  std::string query = action.string_at("query");
  for (const Json& one : action["queries"].items())
    if (query.empty()) query = one.text();
  if (query.empty()) query = action.string_at("url");
  if (query.empty()) query = action.string_at("pattern");
  if (query.empty()) query = received.string_at("summary");
  return web_search(
      query, action.is_object() ? action : Json::object({{"type", "search"}, {"query", query}}));
}

/// A search or fetch by Anthropic's servers.
std::optional<Json> anthropic_web_search(const Json& received) {
  const std::string name = received.string_at("name");
  const Json& input = received["input"];
  if (name == "web_search")
    return web_search(input.string_at("query"),
                      Json::object({{"type", "search"}, {"query", input.string_at("query")}}));
  if (name == "web_fetch")
    return web_search(input.string_at("url"),
                      Json::object({{"type", "open_page"}, {"url", input.string_at("url")}}));
  return {};
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
}

/// As a shell would take it for one word.
std::string quoted(const std::string& word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string text = "'";
  for (const char c : word)
    if (c == '\'')
      text += "'\\''";
    else
      text += c;
  return text + "'";
}

std::vector<std::string> words_of(const Json& argv) {
  std::vector<std::string> words;
  for (const Json& word : argv.items()) words.push_back(word.text());
  return words;
}

std::string command_line(const Json& argv) {
  std::string line;
  for (const std::string& word : words_of(argv)) line += (line.empty() ? "" : " ") + quoted(word);
  return line;
}

Json command_item(const std::string& command) {
  return Json::object({{"type", "command_execution"},
                       {"command", command},
                       {"aggregated_output", ""},
                       {"exit_code", Json()},
                       {"status", "in_progress"}});
}

/// The first command among the actions, or null.
const Json& argv_of(const Json& actions) {
  static const Json none;
  for (const Json& action : actions.items())
    if (action.string_at("kind") == "run_command") return action["argv"];
  return none;
}

Json arguments_of(const Json& call) {
  const std::string text = call.string_at("arguments");
  if (call.string_at("form") == "custom") return Json::object({{"input", text}});
  if (text.empty()) return Json::object();
  try {
    return parse_json(text);
  } catch (const JsonError&) {
    return text;  // as it came
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

/// What a patch is to change, of what its text says; nothing where it says nothing valid.
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

Json change_item(Json changes) {
  return Json::object(
      {{"type", "file_change"}, {"changes", std::move(changes)}, {"status", "in_progress"}});
}

/// What the patch that a call of a shell is changes; nothing where it is no patch.
std::optional<Json> embedded_changes(const Json& arguments, const fs::path& workspace) {
  const Json& command = command_of(arguments);
  const std::vector<std::string> argv = command.is_string()
                                            ? std::vector<std::string>{"sh", "-c", command.text()}
                                            : words_of(command);
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

Json server_item(const Json& origin, const std::string& tool, Json arguments) {
  return Json::object({{"type", "mcp_tool_call"},
                       {"server", origin.string_at("server", kOwnServer)},
                       {"tool", origin.string_at("tool", tool)},
                       {"arguments", std::move(arguments)},
                       {"result", Json()},
                       {"error", Json()},
                       {"status", "in_progress"}});
}

/// The command ended well, and what it printed is not what it had to print.
void fail_result(Json& item, const Json& output) {
  const std::string shown = output.string_at("shown");
  const std::string first = shown.substr(0, shown.find('\n'));
  item.set("status", "failed");
  if (!first.empty() && !first.starts_with("Exit code: ")) item.set("reason", first);
}

void complete_command(Json& item, const Json& output) {
  const std::string status = output.string_at("status");
  item.set("aggregated_output", shortened_output(output.string_at("output")));
  if (output["exit"].is_object()) {
    set_exit(item, output["exit"]);
    if (status == "failed" && item.string_at("status") == "completed") fail_result(item, output);
    return;
  }
  item.set("exit_code", status == "completed" ? 0 : kNotStarted);
  item.set("status", status);
}

void complete_change(Json& item, const Json& output) {
  const std::string status = output.string_at("status");
  item.set("status", status);
  if (status == "failed") item.set("reason", shortened_output(output.string_at("output")));
}

void complete_server_call(Json& item, const Json& output) {
  const std::string status = output.string_at("status");
  const Json& answer = output["details"];
  const std::string text = shortened_output(output.string_at("output"));
  item.set("status", status);
  // What a server calls an error is its answer all the same.
  if (answer["content"].is_array()) {
    item.set("result", Json::object({{"content", answer["content"]},
                                     {"structured_content", answer["structured_content"]}}));
  } else if (status == "completed") {
    Json content = Json::array({Json::object({{"type", "text"}, {"text", text}})});
    item.set("result",
             Json::object({{"content", std::move(content)}, {"structured_content", Json()}}));
  } else {
    item.set("error", Json::object({{"message", text}}));
  }
}

}  // namespace

std::string shortened_output(const std::string& output) {
  if (output.size() <= kMostItemOutput) return output;
  HeadTail cut(kMostItemText);
  cut.feed(output);
  return cut.render();
}

std::vector<Json> response_items(const Json& received) {
  std::vector<Json> items;
  const std::string type = received.string_at("type", "message");
  if (type == "message") {
    // Chat Completions: the whole response is one message, with what it thought.
    const std::string thought = received.string_at("reasoning_content");
    add_text("reasoning", thought.empty() ? received.string_at("reasoning") : thought, items);
    const Json* text = received.find("text");
    add_text("agent_message", text_of(text ? *text : received["content"]), items);
  } else if (type == "text") {  // Messages
    add_text("agent_message", received.string_at("text"), items);
  } else if (type == "thinking") {
    add_text("reasoning", received.string_at("thinking"), items);
  } else if (type == "reasoning") {
    add_text("reasoning", summary_of(received["summary"]), items);
  } else if (type == "web_search_call") {
    items.push_back(openai_web_search(received));
  } else if (type == "server_tool_use") {
    if (auto search = anthropic_web_search(received)) items.push_back(std::move(*search));
  }
  return items;
}

Json started_item(const Json& call, const Json& actions, const fs::path& workspace) {
  const std::string tool = call.string_at("tool");
  Json arguments = arguments_of(call);
  if (tool == "apply_patch") return change_item(changes_of(arguments.string_at("input"), {}));
  if (const Json& argv = argv_of(actions); argv.is_array()) return command_item(command_line(argv));
  if (runs_commands(tool)) {
    if (auto changes = embedded_changes(arguments, workspace))
      return change_item(std::move(*changes));
    const Json& command = command_of(arguments);
    return command_item(command.is_array()    ? command_line(command)
                        : command.is_string() ? command.text()
                                              : call.string_at("arguments"));
  }
  return server_item(call["origin"], tool, std::move(arguments));
}

void complete_item(Json& item, const Json& output) {
  const std::string type = item.string_at("type");
  if (type == "command_execution")
    complete_command(item, output);
  else if (type == "file_change")
    complete_change(item, output);
  else
    complete_server_call(item, output);
  if (output.string_at("status") == "declined") item.set("reason", output["reason"]);
}

void abandon_item(Json& item) {
  const std::string type = item.string_at("type");
  if (type == "todo_list") return;  // has no status: the list as it stands
  if (type == "command_execution") item.set("exit_code", kKilled);
  if (type == "mcp_tool_call")
    item.set("error", Json::object({{"message", "the run has ended before it"}}));
  item.set("status", "failed");
  item.set("reason", "the run has ended before it");
}

Json verification_item(const Json& record) {
  Json item = command_item(record.string_at("command"));
  item.set("verification", Json::object({{"phase", record["phase"]}, {"round", record["round"]}}));
  return item;
}

void complete_verification(Json& item, const Json& record) {
  item.set("aggregated_output", shortened_output(record.string_at("output")));
  set_exit(item, record["exit"]);
}

void set_exit(Json& item, const Json& exit) {
  const int code = exit_code_of(exit);
  item.set("exit_code", code);
  item.set("status", code == 0 ? "completed" : "failed");
  if (std::string reason = reason_of(exit); !reason.empty()) item.set("reason", std::move(reason));
}

Json todo_item(const Json& plan) {
  Json items = Json::array();
  for (const Json& step : plan["steps"].items())
    items.push_back(Json::object({{"text", step.string_at("step")},
                                  {"completed", step.string_at("status") == "completed"}}));
  return Json::object({{"type", "todo_list"}, {"items", std::move(items)}});
}

Json warning_item(const std::string& message) {
  return Json::object({{"type", "error"}, {"message", message}});
}

}  // namespace sortie
