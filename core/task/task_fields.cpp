#include "core/task/task_fields.h"

#include <utility>

#include "core/task/placeholders.h"
#include "core/task/required_version.h"
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

/// Reads the value and keeps its place.
FieldValue noted(FieldValue value, std::optional<TextPlace>& place) {
  value.read = [read = std::move(value.read), &place](const YamlNode& node, const std::string& name,
                                                      Diagnostics& findings) {
    place = node.place;
    read(node, name, findings);
  };
  return value;
}

/// Reads the paths only; the files are read once the whole task is known.
FieldValue images_value(TaskDraft& draft, const std::filesystem::path& folder) {
  return {
      .schema =
          [] {
            return Json::object({{"type", "array"},
                                 {"items", Json::object({{"type", "string"}, {"minLength", 1}})},
                                 {"maxItems", static_cast<std::int64_t>(kMaxImages)}});
          },
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
      .add("default", std::move(default_value), "Its value if no other source has one.")
      .add("env", text_value(variable.environment, kVariableName),
           "Environment variable that it may come from, if the policy's bounds allow that.")
      .add("required", boolean_value(variable.required), "The run does not start without a value.")
      .add("trusted", boolean_value(variable.trusted),
           "Its value is inserted as it is; otherwise one from the environment or a file is marked "
           "as untrusted.");
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
  return {.schema =
              [] {
                TaskVariable any;
                Json names =
                    Json::object({{"pattern", std::string("^") + kTemplateName.pattern + "$"}});
                return Json::object({{"type", "object"},
                                     {"propertyNames", std::move(names)},
                                     {"additionalProperties", variable_fields(any).schema()}});
              },
          .read =
              [&target](const YamlNode& node, const std::string&, Diagnostics& findings) {
                if (!node.is_mapping())
                  findings.error(node.place, "'vars': expected a mapping of variables, got " +
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
           "The folder to work on, relative to the task file; by default the current folder.")
      .add(
          "isolation", enum_value(workspace.isolation),
          "How the run is kept from changing the tree; `none`: it works in it, and a failed run is undone.")
      .add("copy_limit", size_value(workspace.copy_limit, 0, kAnySize),
           "A larger tree is not copied.")
      .add("project_docs", texts_value(workspace.project_docs),
           "Files read as untrusted context, from the repository's root down to path.")
      .add("project_docs_max_bytes", size_value(workspace.project_docs_max_bytes, 0, 16u << 20),
           "Limit for all of them together.");
}

Json tools_schema() {
  Json built_in = Json::object({{"enum", text_list(built_in_tool_names())}});
  Json own = Json::object({{"type", "string"}, {"pattern", "^[A-Za-z0-9_*-]{1,64}$"}});
  Json item = Json::object({{"anyOf", Json::array({std::move(built_in), std::move(own)})}});
  Json list = Json::object({{"type", "array"}, {"items", std::move(item)}});
  return Json::object(
      {{"anyOf", Json::array({Json::object({{"const", "default"}}), std::move(list)})},
       {"default", "default"}});
}

/// `default`, or a list of tools; the names are checked once the task's own tools are known.
FieldValue enable_value(TaskDraft& draft) {
  FieldValue names = texts_value(draft.task.tools);
  return {.schema = tools_schema,
          .read =
              [&draft, read = std::move(names.read)](const YamlNode& node, const std::string& name,
                                                     Diagnostics& findings) {
                if (node.is_scalar() && node.text == "default") {
                  draft.task.tools.clear();
                } else if (!node.is_list()) {
                  findings.error(node.place, "'enable': expected 'default' or a list of tools");
                } else {
                  read(node, name, findings);
                  draft.enabled = node.items;
                  if (node.items.empty()) draft.task.tools = {kNoTools};
                }
              },
          .write =
              [&draft] {
                return draft.task.tools.empty() ? Json(kDefaultTools)
                                                : written_tools(draft.task.tools);
              }};
}

/// A cost that the task sets must be enforceable; the default holds only if the price is known.
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
      .add("tool_calls", integer_value(budget.tool_calls, 0, 1'000'000),
           "Tool calls of the whole run.")
      .add("tokens", integer_value(budget.tokens, 1, 1'000'000'000'000),
           "Uncached input and output, as the provider counts them.")
      .add(
          "cost", cost_value(budget),
          "USD. It is an error to set it for a model whose price is unknown; then tokens limits the run.")
      .add("time", duration_value(budget.time, 1ms, 24h * 30),
           "Wall clock of the whole run, verification included.");
}

Fields output_fields(TaskDraft& draft, const std::filesystem::path& folder) {
  TaskOutput& output = draft.task.output;
  Fields diff("diff");
  diff.add("context_lines", integer_value(output.context_lines, 0, 1000),
           "Unchanged lines around a change.")
      .add("renames", boolean_value(output.renames), "Whether renamed files are detected.")
      .add("base", enum_value(output.base), "What the diff is made against.")
      .add("include", git_patterns_value(output.include), "Ignored paths that belong in the diff.")
      .add("products", enum_value(output.products),
           "Whether new files that a build made, by their signs, stay out of the diff.")
      .add(
          "lfs", boolean_value(output.lfs),
          "Whether changed files of git-lfs are in the diff, with the bytes of the tree; else they "
          "fail the run.")
      .add(
          "submodules", texts_value(output.submodules),
          "The submodules whose changes get a diff of their own, submodules/PATH.diff: paths in the "
          "workspace, or git patterns. Changes in others fail the run.");
  return Fields("output")
      .add("schema", noted(path_value(output.schema_file, folder), draft.schema_at),
           "A JSON Schema file, relative to the task file, that the final message must match.")
      .add(
          "findings", boolean_value(output.findings),
          "The final message is a list of findings, {\"findings\": [{file, line, severity, message, "
          "suggestion}]}: `schema` is a built-in one, unless it is given.")
      .add("diff", mapping_value(std::move(diff)), "How changes.diff is made.");
}

/// `functions` is read as the task has it, and written as an absolute path.
Fields tools_fields(TaskDraft& draft) {
  Task& task = draft.task;
  FieldValue functions = noted(text_value(draft.functions), draft.functions_at);
  functions.write = [&task] { return path_json(task.functions_file); };
  return Fields("tools")
      .add("enable", enable_value(draft),
           "`default`, or a list of all tools, including those of `functions` and `mcp` "
           "(`mcp__SERVER__*`); `default` in the list adds the default tools to the others; [] for "
           "none.")
      .add("choice", noted(text_value(task.tool_choice, kToolChoice), draft.choice),
           "none: the model may call no tool. required, or a tool's name: it has to call one, or "
           "that one, before anything else.")
      .add("functions", std::move(functions),
           "A manifest of your own function tools, relative to the task file.")
      .add("mcp", mcp_servers_value(task.mcp), "MCP servers (Model Context Protocol), by name.");
}

Fields checks_fields(TaskChecks& checks) {
  return Fields("checks")
      .add("missing_paths", enum_value(checks.missing_paths),
           "Paths in a response that do not exist.")
      .add("dangerous_words", enum_value(checks.dangerous_words),
           "Words of a response that announce something dangerous.")
      .add("repetition", enum_value(checks.repetition),
           "Whether a response that repeats itself over and over is stopped.");
}

Fields expected_diff_fields(ExpectedDiff& diff) {
  constexpr std::int64_t kMost = 1'000'000'000;
  return Fields("diff")
      .add("max_files", where_given(integer_value(diff.max_files, 0, kMost)),
           "Changed files at most.")
      .add("max_lines", where_given(integer_value(diff.max_lines, 0, kMost)),
           "Added and deleted lines together at most; binary files have none.")
      .add(
          "allow", git_patterns_value(diff.allow),
          "git patterns (\"src/**\"), one of which each changed path must match; by default all do.")
      .add("deny", git_patterns_value(diff.deny), "git patterns that no changed path may match.");
}

Fields expect_fields(TaskDraft& draft) {
  TaskExpect& expect = draft.task.expect;
  return Fields("expect")
      .add("changes", enum_value(expect.changes),
           "Whether the run has to change files; auto: required, forbidden in a read-only sandbox.")
      .add("tool_success", noted(boolean_value(expect.tool_success), draft.tool_success),
           "If the agent called tools, at least one call must have succeeded; not the default with "
           "`changes: any`.")
      .add("diff", mapping_value(expected_diff_fields(expect.diff)),
           "What the diff may be; renamed files count by both paths.");
}

Fields best_of_fields(TaskBestOf& best_of) {
  return Fields("best_of")
      .add("count", integer_value(best_of.count, 1, kMostAttempts),
           "Attempts at the task, each in an isolation of its own; the budget is for their sum.")
      .add("parallel", integer_value(best_of.parallel, 1, kMostAttempts),
           "Attempts at the same time, at most.")
      .add("pick", enum_value(best_of.pick),
           "first-passing: the first that passes, and the others end then. smallest-diff: of all "
           "that pass, the one with the fewest changed lines.");
}

Fields context_fields(TaskContext& context) {
  return Fields("context")
      .add("compact_at", real_value(context.compact_at, 0.1, 1),
           "Share of the context window at which the history is compacted.")
      .add("keep_last_turns", integer_value(context.keep_last_turns, 0, 1000),
           "Turns that a compaction leaves as they are.")
      .add("shown_output", size_value(context.shown_output, 256, 16u << 20),
           "How much of one tool output the model sees.")
      .add("carry_over", text_value(context.carry_over, kFileName),
           "A file beside the output folder: read at the start as untrusted text, rewritten with "
           "a summary at the end.");
}

/// The file's text is written as the prompt.
FieldValue prompt_file_value(TaskDraft& draft) {
  FieldValue value = noted(text_value(draft.prompt_file), draft.prompt_file_at);
  value.write = kNotWritten;
  return value;
}

}  // namespace

std::filesystem::path absolute_path(const std::filesystem::path& folder, const std::string& text) {
  std::filesystem::path path = (folder / text).lexically_normal();
  if (!path.has_filename() && path.has_relative_path()) path = path.parent_path();  // "src/"
  return path;
}

Json written_tools(const std::vector<std::string>& tools) {
  return is_one_of(kNoTools, tools) ? Json::array() : text_list(tools);
}

Json path_json(const std::filesystem::path& path) {
  return path.empty() ? Json() : Json(path.string());
}

FieldValue path_value(std::filesystem::path& target, const std::filesystem::path& folder) {
  return {
      .schema =
          [preset = target.string()] {
            Json schema = Json::object({{"type", "string"}, {"minLength", 1}});
            if (!preset.empty()) schema.set("default", preset);
            return schema;
          },
      .read =
          [&target, folder](const YamlNode& node, const std::string& name, Diagnostics& findings) {
            if (const auto text = read_text(node, name, {}, findings))
              target = absolute_path(folder, *text);
          },
      .write = [&target] { return path_json(target); }};
}

FieldValue policy_value(std::string& target, const std::filesystem::path& folder) {
  return {
      .schema =
          [] {
            return Json::object({{"type", "string"}, {"minLength", 1}});
          },
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

Fields task_fields(TaskDraft& draft, const std::filesystem::path& folder) {
  Task& task = draft.task;
  return Fields("task")
      .require("version", version_value(1), "The version of the format.")
      .add("requires", required_version_value(task.needs),
           "The versions of sortie that can run the task: \">=1.0 <2\".")
      .add("name",
           text_value(task.name,
                      {.pattern = "[a-z0-9-]{1,64}", .meaning = "1 to 64 of a-z, 0-9 and '-'"}),
           "A name for people; by default the file's.")
      .add("prompt", noted(text_value(task.prompt), draft.prompt),
           "What is to be done; {{variables}} are replaced.")
      .add("prompt_file", prompt_file_value(draft),
           "A file with the prompt instead, relative to the task file.")
      .add("images", images_value(draft, folder),
           "Files attached to the first message: PNG, JPEG, GIF or WebP.")
      .add("instructions", text_value(task.instructions), "Added to the system message.")
      .add("instructions_replace", boolean_value(task.instructions_replace),
           "They replace sortie's own instructions.")
      .add("policy", policy_value(task.policy, folder),
           "The policy: a preset's name, or a file relative to the task file.")
      .add("vars", variables_value(task.vars), "Template variables of the prompts.")
      .add("workspace", mapping_value(workspace_fields(task.workspace, folder)),
           "The folder tree to work on.")
      .add("model", model_value(task.model, folder), "The model, and how to reach it.")
      .add("tools", mapping_value(tools_fields(draft)), "What the model may call.")
      .add("stages", stages_value(draft),
           "A chain of prompts instead of one: each is sent when the one before has ended.")
      .add("verify", verify_value(task.verify), "What must hold when the agent says it is done.")
      .add("checks", mapping_value(checks_fields(task.checks)),
           "Checks of each response, before its tool calls are run.")
      .add("expect", mapping_value(expect_fields(draft)), "What the run must have achieved.")
      .add("budget", mapping_value(budget_fields(task.budget)), "Limits that end the run.")
      .add("context", mapping_value(context_fields(task.context)),
           "What the model sees of the run.")
      .add("output", mapping_value(output_fields(draft, folder)), "What the run leaves behind.")
      .add("best_of", mapping_value(best_of_fields(task.best_of)),
           "Several attempts at the task, of which the best one counts.");
}

}  // namespace sortie
