#include "core/task/task_fields.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

#include "core/task/field_limits.h"
#include "core/task/mcp_fields.h"
#include "core/task/model_fields.h"
#include "core/task/path_value.h"
#include "core/task/placeholders.h"
#include "core/task/stage_fields.h"
#include "core/task/tool_names.h"
#include "core/task/verify_fields.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr std::uint64_t kAnySize = 1ull << 50;

constexpr TextLimits kVariableName = {.pattern = "[A-Za-z_][A-Za-z0-9_-]{0,63}",
                                      .meaning = "a name of letters, digits, '_' and '-'"};

constexpr TextLimits kFileName = {.pattern = "[A-Za-z0-9_][A-Za-z0-9._-]{0,127}",
                                  .meaning = "a file name without folders"};
constexpr std::size_t kMaxImages = 20;

/// The value, and where it stood.
FieldValue noted(FieldValue value, std::optional<TextPlace>& place) {
  value.read = [read = std::move(value.read), &place](const YamlNode& node, const std::string& name,
                                                      Diagnostics& findings) {
    place = node.place;
    read(node, name, findings);
  };
  return value;
}

/// Only the paths; the files are read once the whole task is known.
FieldValue images_value(TaskDraft& draft, const std::filesystem::path& folder) {
  Json schema = Json::object({{"type", "array"},
                              {"items", Json::object({{"type", "string"}, {"minLength", 1}})},
                              {"maxItems", static_cast<std::int64_t>(kMaxImages)}});
  return {.schema = std::move(schema),
          .read = [&draft, folder](const YamlNode& node, const std::string& name,
                                   Diagnostics& findings) {
            if (!check_list(node, name, "a list of image files", findings)) return;
            if (node.items.size() > kMaxImages)
              findings.error(node.place,
                             "'images' has more than " + std::to_string(kMaxImages) + " files");
            for (const auto& item : node.items)
              if (const auto text = read_text(item, "image", {}, findings)) {
                draft.task.images.push_back({.path = absolute_path(folder, *text)});
                draft.images.push_back(item.place);
              }
          }};
}

/// A preset's name stays as it is, a file's becomes absolute.
FieldValue policy_value(std::string& target, const std::filesystem::path& folder) {
  return {.schema = Json::object({{"type", "string"}, {"minLength", 1}}),
          .read = [&target, folder](const YamlNode& node, const std::string& name,
                                    Diagnostics& findings) {
            const auto text = read_text(node, name, {}, findings);
            if (!text) return;
            const bool is_file = text->find('/') != std::string::npos || text->ends_with(".yaml") ||
                                 text->ends_with(".yml");
            target = is_file ? absolute_path(folder, *text).string() : *text;
          }};
}

Fields variable_fields(TaskVariable& variable) {
  FieldValue default_value = text_value(variable.default_value, {.may_be_empty = true});
  default_value.read = [read = std::move(default_value.read), &variable](
                           const YamlNode& node, const std::string& name, Diagnostics& findings) {
    variable.has_default = true;
    read(node, name, findings);
  };
  return Fields("variable")
      .add("default", std::move(default_value), "Its value where no other source has one.")
      .add("env", text_value(variable.environment, kVariableName),
           "Environment variable it may come from, as far as the policy's bounds let it.")
      .add("required", boolean_value(variable.required), "Without a value the run does not start.")
      .add("trusted", boolean_value(variable.trusted),
           "Its value is put in bare; otherwise one from the environment or a file is marked as "
           "untrusted.");
}

FieldValue variables_value(std::map<std::string, TaskVariable>& target) {
  TaskVariable any;
  return {.schema = Json::object(
              {{"type", "object"},
               {"propertyNames", Json::object({{"pattern", "^[A-Za-z_][A-Za-z0-9_-]{0,63}$"}})},
               {"additionalProperties", variable_fields(any).schema()}}),
          .read = [&target](const YamlNode& node, const std::string&, Diagnostics& findings) {
            if (!node.is_mapping()) {
              findings.error(node.place,
                             "'vars' has to be a mapping of variables, not " + kind_in_words(node));
              return;
            }
            const auto& built_in = built_in_variables();
            for (const auto& member : node.members) {
              const std::string& name = member.key.text;
              if (std::find(built_in.begin(), built_in.end(), name) != built_in.end()) {
                findings.error(member.key.place, "'" + name + "' is built in; choose another name");
              } else if (read_text(member.key, "variable name", kVariableName, findings)) {
                TaskVariable& variable = target[name];
                if (member.value.kind == YamlNode::Kind::null)
                  findings.error(member.key.place, "'" + name + "' needs a value");
                else
                  variable_fields(variable).read(member.value, findings);
              }
            }
          }};
}

Fields workspace_fields(TaskWorkspace& workspace, const std::filesystem::path& folder) {
  return Fields("workspace")
      .add("path", path_value(workspace.path, folder),
           "The folder to work on, relative to the task file; without it the current folder.")
      .add("isolation",
           choice_value(name_of(workspace.isolation), isolation_names(), isolation_names(false),
                        [&workspace](const std::string& name) {
                          workspace.isolation = *isolation_named(name);
                        }),
           "What keeps the tree from being changed by the run.")
      .add("copy_limit", size_value(workspace.copy_limit, 0, kAnySize),
           "A larger tree is not copied.")
      .add("project_docs", texts_value(workspace.project_docs),
           "Files read as untrusted context, from the repository's root down to path.")
      .add("project_docs_max_bytes", size_value(workspace.project_docs_max_bytes, 0, 16u << 20),
           "Of all of them together.");
}

/// Of the tools that a task may name.
std::vector<std::string> known_tools() {
  std::vector<std::string> names;
  for (const BuiltInTool& tool : built_in_tools()) names.emplace_back(tool.name);
  return names;
}

/// `default`, or a list of tools; the names are looked at once the task's own are known.
FieldValue enable_value(TaskDraft& draft) {
  FieldValue names = texts_value(draft.task.tools);
  Json known = Json::array();
  for (const auto& name : known_tools()) known.push_back(name);
  Json built_in = Json::object({{"enum", std::move(known)}});
  Json own = Json::object({{"type", "string"}, {"pattern", "^[A-Za-z0-9_*-]{1,64}$"}});
  Json item = Json::object({{"anyOf", Json::array({std::move(built_in), std::move(own)})}});
  Json list = Json::object({{"type", "array"}, {"items", std::move(item)}, {"minItems", 1}});
  Json schema =
      Json::object({{"anyOf", Json::array({Json::object({{"const", "default"}}), std::move(list)})},
                    {"default", "default"}});
  return {.schema = std::move(schema),
          .read = [&draft, read = std::move(names.read)](
                      const YamlNode& node, const std::string& name, Diagnostics& findings) {
            if (node.is_scalar() && node.text == "default") {
              draft.task.tools.clear();
            } else if (!node.is_list() || node.items.empty()) {
              findings.error(node.place, "'enable' has to be 'default' or a list of tools");
            } else {
              read(node, name, findings);
              draft.enabled = node.items;
            }
          }};
}

/// A cost that is asked for has to be watched; the default only where it can be.
FieldValue cost_value(TaskBudget& budget) {
  FieldValue value = real_value(budget.cost, 0, 1'000'000);
  value.read = [read = std::move(value.read), &budget](
                   const YamlNode& node, const std::string& name, Diagnostics& findings) {
    budget.cost_given = true;
    read(node, name, findings);
  };
  return value;
}

Fields budget_fields(TaskBudget& budget) {
  return Fields("budget")
      .add("turns", integer_value(budget.turns, 1, 1'000'000), "Requests to the model.")
      .add("tool_calls", integer_value(budget.tool_calls, 0, 1'000'000), "Of the whole run.")
      .add("tokens", integer_value(budget.tokens, 1, 1'000'000'000'000),
           "Uncached input and output, as the provider counts them.")
      .add("time", duration_value(budget.time, 1ms, 24h * 30),
           "Wall clock of the whole run, verification included.")
      .add("cost", cost_value(budget),
           "USD. Where the price is unknown, tokens govern; written here it is an error then.");
}

Fields output_fields(TaskDraft& draft, const std::filesystem::path& folder) {
  TaskOutput& output = draft.task.output;
  Fields diff("diff");
  diff.add("context_lines", integer_value(output.context_lines, 0, 1000),
           "Unchanged lines around a change.")
      .add("renames", boolean_value(output.renames), "Whether renamed files are found.")
      .add("base", choice_value(output.base, {"auto", "start", "head"}),
           "What the diff is made against.")
      .add("include", texts_value(output.include), "Ignored paths that belong into the diff.");
  return Fields("output")
      .add("schema", noted(path_value(output.schema_file, folder), draft.schema_at),
           "A JSON Schema, relative to the task file, that the final message has to fit.")
      .add("diff", mapping_value(std::move(diff)), "How changes.diff is made.")
      .later({"findings"});
}

std::string left_out(const std::string& tool) {
  return "the run does not have the " + tool + ": tools.enable leaves it out";
}

/// That the name or glob of tools "mcp__SERVER__TOOL" is of no server of the task.
std::string server_problem(const std::string& word, const std::vector<TaskMcpServer>& servers,
                           std::string& nearest) {
  const bool known = std::any_of(
      servers.begin(), servers.end(),
      [&word](const TaskMcpServer& server) { return may_mean_tool_of(word, server.name); });
  if (known) return {};
  std::vector<std::string> names;
  for (const TaskMcpServer& server : servers) names.push_back(server.name);
  const std::string text = word.substr(std::strlen("mcp__"));
  const std::size_t end = std::min(text.find("__"), text.size());
  const std::string server = nearest_name(text.substr(0, end), names);
  if (!server.empty()) nearest = "mcp__" + server + text.substr(end);
  return "'" + one_line(word, 80) + "' names no server of tools.mcp";
}

}  // namespace

std::string tool_problem(const std::string& name, const Task& task, std::string& nearest) {
  const std::string tool = "tool '" + one_line(name, 60) + "'";
  if (is_mcp_tool(name)) {
    // Which there are is known once the servers have listed them.
    const std::string problem = server_problem(name, task.mcp, nearest);
    if (!problem.empty() || name.find('*') != std::string::npos) return problem;
    return task.tools.empty() || enables_tool(task.tools, name) ? "" : left_out(tool);
  }
  std::vector<std::string> known = known_tools();
  for (const TaskFunction& function : task.functions) known.push_back(function.name);
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    nearest = nearest_name(name, known);
    return "there is no " + tool;
  }
  if (task.tools.empty() || enables_tool(task.tools, name)) return {};
  nearest = nearest_name(name, task.tools);
  return left_out(tool);
}

Fields task_fields(TaskDraft& draft, const std::filesystem::path& folder) {
  Task& task = draft.task;
  Fields tools("tools");
  tools
      .add("enable", enable_value(draft),
           "`default`, or the list of all tools, those of `functions` and of `mcp` among them "
           "(`mcp__SERVER__*`); `default` in the list: those, and the others of the list.")
      .add("functions", noted(text_value(draft.functions), draft.functions_at),
           "A manifest of your own function tools, relative to the task file.")
      .add("mcp", mcp_servers_value(task.mcp),
           "Servers of tools (Model Context Protocol), by name.");
  Fields expect("expect");
  expect
      .add("changes", choice_value(task.expect.changes, {"auto", "required", "forbidden", "any"}),
           "Whether the run has to change files; auto: required, forbidden in a read-only sandbox.")
      .later({"diff", "tool_success"});
  Fields context("context");
  context
      .add("compact_at", real_value(task.context.compact_at, 0.1, 1),
           "Share of the context window from which on the history is shortened.")
      .add("keep_last_turns", integer_value(task.context.keep_last_turns, 0, 1000),
           "Turns that stay whole when it is.")
      .add("shown_output", size_value(task.context.shown_output, 256, 16u << 20),
           "How much of one tool output the model sees.")
      .add("carry_over", text_value(task.context.carry_over, kFileName),
           "A file beside the output folder: read at the start as untrusted text, rewritten with "
           "a summary at the end.");
  Fields checks("checks");
  checks
      .add("missing_paths", choice_value(task.checks.missing_paths, {"off", "warn", "correct"}),
           "Paths named in a response that do not exist.")
      .add("dangerous_words", choice_value(task.checks.dangerous_words, {"off", "warn", "correct"}),
           "Words of a response that announce what must not be done.")
      .add("repetition", choice_value(task.checks.repetition, {"off", "stop"}),
           "A stream that says the same over and over is ended.");
  return Fields("task")
      .require("version", version_value(1), "The version of the format.")
      .add("name",
           text_value(task.name,
                      {.pattern = "[a-z0-9-]{1,64}", .meaning = "1 to 64 of a-z, 0-9 and '-'"}),
           "A name for people; without it the file's.")
      .add("prompt", noted(text_value(task.prompt), draft.prompt),
           "What is to be done; {{variables}} are replaced.")
      .add("prompt_file", noted(text_value(draft.prompt_file), draft.prompt_file_at),
           "A file with the prompt instead, relative to the task file.")
      .add("images", images_value(draft, folder),
           "Files attached to the first message: PNG, JPEG, GIF or WebP.")
      .add("instructions", text_value(task.instructions), "Added to the system message.")
      .add("instructions_replace", boolean_value(task.instructions_replace),
           "They stand instead of sortie's own.")
      .add("policy", policy_value(task.policy, folder),
           "The policy: a preset's name, or a file relative to the task file.")
      .add("vars", variables_value(task.vars), "Template variables of the prompts.")
      .add("workspace", mapping_value(workspace_fields(task.workspace, folder)),
           "The folder tree that is worked on.")
      .add("model", model_value(task.model, folder), "Who is asked, and how.")
      .add("tools", mapping_value(std::move(tools)), "What the model may call.")
      .add("stages", stages_value(draft),
           "A chain of prompts instead of one: each is sent once the one before has ended.")
      .add("verify", verify_value(task.verify), "What must hold when the agent says it is done.")
      .add("checks", mapping_value(std::move(checks)),
           "What is looked for in each response, before its tool calls are run.")
      .add("expect", mapping_value(std::move(expect)), "What must be true of the effect.")
      .add("budget", mapping_value(budget_fields(task.budget)), "What ends the run.")
      .add("context", mapping_value(std::move(context)), "What the model sees of the run.")
      .add("output", mapping_value(output_fields(draft, folder)), "What the run leaves.")
      .later({"requires", "best_of"});
}

}  // namespace sortie
