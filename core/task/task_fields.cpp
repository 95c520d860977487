#include "core/task/task_fields.h"

#include <utility>

#include "core/task/mcp_fields.h"
#include "core/task/model_fields.h"
#include "core/task/placeholders.h"
#include "core/task/stage_fields.h"
#include "core/task/tool_names.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr std::uint64_t kAnySize = 1ull << 50;

constexpr TextLimits kTemplateName = {.pattern = "[A-Za-z_][A-Za-z0-9_-]{0,63}",
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
  return {
      .schema = std::move(schema),
      .read =
          [&draft, folder](const YamlNode& node, const std::string& name, Diagnostics& findings) {
            if (!check_list(node, name, "a list of image files", findings)) return;
            if (node.items.size() > kMaxImages)
              findings.error(node.place,
                             "'images' has more than " + std::to_string(kMaxImages) + " files");
            for (const auto& item : node.items)
              if (const auto text = read_text(item, "image", {}, findings)) {
                draft.task.images.push_back({.path = absolute_path(folder, *text)});
                draft.images.push_back(item.place);
              }
          },
      .write =
          [&draft] {
            Json list = Json::array();
            for (const TaskImage& image : draft.task.images) list.push_back(image.path.string());
            return list;
          }};
}

/// A preset's name stays as it is, a file's becomes absolute.
FieldValue policy_value(std::string& target, const std::filesystem::path& folder) {
  return {
      .schema = Json::object({{"type", "string"}, {"minLength", 1}}),
      .read =
          [&target, folder](const YamlNode& node, const std::string& name, Diagnostics& findings) {
            const auto text = read_text(node, name, {}, findings);
            if (!text) return;
            const bool is_file = text->find('/') != std::string::npos || text->ends_with(".yaml") ||
                                 text->ends_with(".yml");
            target = is_file ? absolute_path(folder, *text).string() : *text;
          },
      .write = [&target] { return target.empty() ? Json() : Json(target); }};
}

Fields variable_fields(TaskVariable& variable) {
  FieldValue default_value = text_value(variable.default_value, {.may_be_empty = true});
  default_value.read = [read = std::move(default_value.read), &variable](
                           const YamlNode& node, const std::string& name, Diagnostics& findings) {
    variable.has_default = true;
    read(node, name, findings);
  };
  default_value.write = [&variable] {
    return variable.has_default ? Json(variable.default_value) : Json();
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

void read_variable(const YamlMember& member, std::map<std::string, TaskVariable>& target,
                   Diagnostics& findings) {
  const std::string& name = member.key.text;
  if (is_one_of(name, built_in_variables())) {
    findings.error(member.key.place, "'" + name + "' is built in; choose another name");
  } else if (read_text(member.key, "variable name", kTemplateName, findings)) {
    TaskVariable& variable = target[name];
    if (member.value.kind == YamlNode::Kind::null)
      findings.error(member.key.place, "'" + name + "' needs a value");
    else
      variable_fields(variable).read(member.value, findings);
  }
}

FieldValue variables_value(std::map<std::string, TaskVariable>& target) {
  TaskVariable any;
  const Json names = Json::object({{"pattern", std::string("^") + kTemplateName.pattern + "$"}});
  return {.schema = Json::object({{"type", "object"},
                                  {"propertyNames", names},
                                  {"additionalProperties", variable_fields(any).schema()}}),
          .read =
              [&target](const YamlNode& node, const std::string&, Diagnostics& findings) {
                if (!node.is_mapping())
                  findings.error(node.place, "'vars' has to be a mapping of variables, not " +
                                                 kind_in_words(node));
                for (const auto& member : node.members) read_variable(member, target, findings);
              },
          .write =
              [&target] {
                Json json = Json::object();
                for (auto& [name, variable] : target)
                  json.set(name, variable_fields(variable).write());
                return json;
              }};
}

Fields workspace_fields(TaskWorkspace& workspace, const std::filesystem::path& folder) {
  return Fields("workspace")
      .add("path", path_value(workspace.path, folder),
           "The folder to work on, relative to the task file; without it the current folder.")
      .add("isolation", enum_value(workspace.isolation, {"none"}),
           "What keeps the tree from being changed by the run.")
      .add("copy_limit", size_value(workspace.copy_limit, 0, kAnySize),
           "A larger tree is not copied.")
      .add("project_docs", texts_value(workspace.project_docs),
           "Files read as untrusted context, from the repository's root down to path.")
      .add("project_docs_max_bytes", size_value(workspace.project_docs_max_bytes, 0, 16u << 20),
           "Of all of them together.");
}

/// `default`, or a list of tools; the names are looked at once the task's own are known.
FieldValue enable_value(TaskDraft& draft) {
  FieldValue names = texts_value(draft.task.tools);
  Json built_in = Json::object({{"enum", text_list(built_in_tool_names())}});
  Json own = Json::object({{"type", "string"}, {"pattern", "^[A-Za-z0-9_*-]{1,64}$"}});
  Json item = Json::object({{"anyOf", Json::array({std::move(built_in), std::move(own)})}});
  Json list = Json::object({{"type", "array"}, {"items", std::move(item)}, {"minItems", 1}});
  Json schema =
      Json::object({{"anyOf", Json::array({Json::object({{"const", "default"}}), std::move(list)})},
                    {"default", "default"}});
  return {.schema = std::move(schema),
          .read =
              [&draft, read = std::move(names.read)](const YamlNode& node, const std::string& name,
                                                     Diagnostics& findings) {
                if (node.is_scalar() && node.text == "default") {
                  draft.task.tools.clear();
                } else if (!node.is_list() || node.items.empty()) {
                  findings.error(node.place, "'enable' has to be 'default' or a list of tools");
                } else {
                  read(node, name, findings);
                  draft.enabled = node.items;
                }
              },
          .write =
              [&draft] {
                return draft.task.tools.empty() ? Json(kDefaultTools) : text_list(draft.task.tools);
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
      .add("cost", cost_value(budget),
           "USD. Where the price is unknown, tokens govern; written here it is an error then.")
      .add("time", duration_value(budget.time, 1ms, 24h * 30),
           "Wall clock of the whole run, verification included.");
}

Fields output_fields(TaskDraft& draft, const std::filesystem::path& folder) {
  TaskOutput& output = draft.task.output;
  Fields diff("diff");
  diff.add("context_lines", integer_value(output.context_lines, 0, 1000),
           "Unchanged lines around a change.")
      .add("renames", boolean_value(output.renames), "Whether renamed files are found.")
      .add("base", enum_value(output.base), "What the diff is made against.")
      .add("include", texts_value(output.include), "Ignored paths that belong into the diff.");
  return Fields("output")
      .add("schema", noted(path_value(output.schema_file, folder), draft.schema_at),
           "A JSON Schema, relative to the task file, that the final message has to fit.")
      .add("diff", mapping_value(std::move(diff)), "How changes.diff is made.")
      .later({"findings"});
}

/// `functions` is read as it is written, and written as it is found.
Fields tools_fields(TaskDraft& draft) {
  Task& task = draft.task;
  FieldValue functions = noted(text_value(draft.functions), draft.functions_at);
  functions.write = [&task] { return path_json(task.functions_file); };
  return Fields("tools")
      .add("enable", enable_value(draft),
           "`default`, or the list of all tools, those of `functions` and of `mcp` among them "
           "(`mcp__SERVER__*`); `default` in the list: those, and the others of the list.")
      .add("functions", std::move(functions),
           "A manifest of your own function tools, relative to the task file.")
      .add("mcp", mcp_servers_value(task.mcp),
           "Servers of tools (Model Context Protocol), by name.");
}

Fields checks_fields(TaskChecks& checks) {
  return Fields("checks")
      .add("missing_paths", enum_value(checks.missing_paths),
           "Paths named in a response that do not exist.")
      .add("dangerous_words", enum_value(checks.dangerous_words),
           "Words of a response that announce what must not be done.")
      .add("repetition", enum_value(checks.repetition),
           "A stream that says the same over and over is ended.");
}

Fields expect_fields(TaskExpect& expect) {
  return Fields("expect")
      .add("changes", enum_value(expect.changes),
           "Whether the run has to change files; auto: required, forbidden in a read-only sandbox.")
      .later({"diff", "tool_success"});
}

Fields context_fields(TaskContext& context) {
  return Fields("context")
      .add("compact_at", real_value(context.compact_at, 0.1, 1),
           "Share of the context window from which on the history is shortened.")
      .add("keep_last_turns", integer_value(context.keep_last_turns, 0, 1000),
           "Turns that stay whole when it is.")
      .add("shown_output", size_value(context.shown_output, 256, 16u << 20),
           "How much of one tool output the model sees.")
      .add("carry_over", text_value(context.carry_over, kFileName),
           "A file beside the output folder: read at the start as untrusted text, rewritten with "
           "a summary at the end.");
}

/// Of a file whose text is written as the prompt.
FieldValue prompt_file_value(TaskDraft& draft) {
  FieldValue value = noted(text_value(draft.prompt_file), draft.prompt_file_at);
  value.write = kNotWritten;
  return value;
}

}  // namespace

Fields task_fields(TaskDraft& draft, const std::filesystem::path& folder) {
  Task& task = draft.task;
  return Fields("task")
      .require("version", version_value(1), "The version of the format.")
      .add("name",
           text_value(task.name,
                      {.pattern = "[a-z0-9-]{1,64}", .meaning = "1 to 64 of a-z, 0-9 and '-'"}),
           "A name for people; without it the file's.")
      .add("prompt", noted(text_value(task.prompt), draft.prompt),
           "What is to be done; {{variables}} are replaced.")
      .add("prompt_file", prompt_file_value(draft),
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
      .add("tools", mapping_value(tools_fields(draft)), "What the model may call.")
      .add("stages", stages_value(draft),
           "A chain of prompts instead of one: each is sent once the one before has ended.")
      .add("verify", verify_value(task.verify), "What must hold when the agent says it is done.")
      .add("checks", mapping_value(checks_fields(task.checks)),
           "What is looked for in each response, before its tool calls are run.")
      .add("expect", mapping_value(expect_fields(task.expect)), "What must be true of the effect.")
      .add("budget", mapping_value(budget_fields(task.budget)), "What ends the run.")
      .add("context", mapping_value(context_fields(task.context)),
           "What the model sees of the run.")
      .add("output", mapping_value(output_fields(draft, folder)), "What the run leaves.")
      .later({"requires", "best_of"});
}

}  // namespace sortie
