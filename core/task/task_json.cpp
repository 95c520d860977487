#include "core/task/task_json.h"

#include "core/base/hash.h"
#include "core/config/fields.h"
#include "core/task/functions.h"
#include "core/task/mcp_fields.h"

namespace sortie {
namespace {

Json strings(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const auto& text : texts) list.push_back(text);
  return list;
}

/// What is not given stands as null, so that every key is there.
Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json variables_json(const std::map<std::string, TaskVariable>& vars) {
  Json json = Json::object();
  for (const auto& [name, variable] : vars) {
    json.set(name, Json::object(
                       {{"default", variable.has_default ? Json(variable.default_value) : Json()},
                        {"env", text_or_null(variable.environment)},
                        {"required", variable.required},
                        {"trusted", variable.trusted}}));
  }
  return json;
}

Json workspace_json(const TaskWorkspace& workspace) {
  return Json::object({{"path", workspace.path.string()},
                       {"isolation", name_of(workspace.isolation)},
                       {"copy_limit", size_text(workspace.copy_limit)},
                       {"project_docs", strings(workspace.project_docs)},
                       {"project_docs_max_bytes", size_text(workspace.project_docs_max_bytes)}});
}

template <class Value>
Json value_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

Json price_json(const std::optional<ModelPrice>& price) {
  if (!price) return {};
  return Json::object({{"input", price->input},
                       {"cached_input", value_or_null(price->cached_input)},
                       {"cache_write", value_or_null(price->cache_write)},
                       {"output", price->output}});
}

/// What a model and an entry of `fallback` have in common.
Json model_json(const TaskModel& model) {
  Json headers = Json::object();
  for (const auto& [name, value] : model.headers) headers.set(name, value);
  return Json::object(
      {{"provider", model.provider},
       {"name", model.name},
       {"effort", model.effort},
       {"base_url", text_or_null(model.base_url)},
       {"api_key_env", text_or_null(model.api_key_env)},
       {"max_output_tokens", model.max_output_tokens},
       {"temperature", value_or_null(model.temperature)},
       {"context_window", value_or_null(model.context_window)},
       {"price", price_json(model.price)},
       {"timeout", Json::object({{"connect", duration_text(model.connect_timeout)},
                                 {"first_event", duration_text(model.first_event_timeout)},
                                 {"idle", duration_text(model.idle_timeout)},
                                 {"total", duration_text(model.total_timeout)}})},
       {"retries", model.retries},
       {"headers", std::move(headers)},
       {"legacy_functions", model.legacy_functions}});
}

Json whole_model_json(const TaskModel& model) {
  Json json = model_json(model);
  json.set("cassette", text_or_null(model.cassette.string()));
  Json fallback = Json::array();
  for (const TaskModel& next : model.fallback) fallback.push_back(model_json(next));
  json.set("fallback", std::move(fallback));
  json.set("pin", model.pin);
  return json;
}

Json stages_json(const std::vector<TaskStage>& stages) {
  if (stages.empty()) return {};
  Json list = Json::array();
  for (const TaskStage& stage : stages) {
    if (stage.verify) {
      list.push_back("verify");
      continue;
    }
    list.push_back(Json::object({{"name", stage.name},
                                 {"prompt", stage.prompt},
                                 {"tools", strings(stage.tools)},
                                 {"sandbox", text_or_null(stage.sandbox)},
                                 {"max_turns", value_or_null(stage.max_turns)},
                                 {"save", text_or_null(stage.save)}}));
  }
  return list;
}

Json images_json(const std::vector<TaskImage>& images) {
  Json list = Json::array();
  for (const auto& image : images) list.push_back(image.path.string());
  return list;
}

Json verify_json(const TaskVerify& verify) {
  Json commands = Json::array();
  for (const auto& command : verify.commands)
    commands.push_back(Json::object(
        {{"run", strings(command.argv)}, {"timeout", duration_text(command.timeout)}}));
  return Json::object({{"commands", std::move(commands)},
                       {"before", verify.before},
                       {"rounds", verify.rounds},
                       {"may_change", strings(verify.may_change)},
                       {"in", "run"}});
}

}  // namespace

Json task_json(const Task& task) {
  const TaskBudget& budget = task.budget;
  const TaskOutput& output = task.output;
  return Json::object(
      {{"version", 1},
       {"name", task.name},
       {"prompt", text_or_null(task.prompt)},
       {"images", images_json(task.images)},
       {"instructions", text_or_null(task.instructions)},
       {"instructions_replace", task.instructions_replace},
       {"policy", text_or_null(task.policy)},
       {"vars", variables_json(task.vars)},
       {"workspace", workspace_json(task.workspace)},
       {"model", whole_model_json(task.model)},
       {"tools",
        Json::object({{"enable", task.tools.empty() ? Json("default") : strings(task.tools)},
                      {"functions", text_or_null(task.functions_file.string())},
                      {"mcp", mcp_servers_json(task.mcp)}})},
       {"stages", stages_json(task.stages)},
       {"verify", verify_json(task.verify)},
       {"checks", Json::object({{"missing_paths", task.checks.missing_paths},
                                {"dangerous_words", task.checks.dangerous_words},
                                {"repetition", task.checks.repetition}})},
       {"expect", Json::object({{"changes", task.expect.changes}})},
       {"budget", Json::object({{"turns", budget.turns},
                                {"tool_calls", budget.tool_calls},
                                {"tokens", budget.tokens},
                                {"cost", budget.cost},
                                {"time", duration_text(budget.time)}})},
       {"context", Json::object({{"compact_at", task.context.compact_at},
                                 {"keep_last_turns", task.context.keep_last_turns},
                                 {"shown_output", size_text(task.context.shown_output)},
                                 {"carry_over", text_or_null(task.context.carry_over)}})},
       {"output", Json::object({{"schema", text_or_null(output.schema_file.string())},
                                {"diff", Json::object({{"context_lines", output.context_lines},
                                                       {"renames", output.renames},
                                                       {"base", output.base},
                                                       {"include", strings(output.include)}})}})}});
}

std::string task_digest(const Task& task) {
  Json effective = task_json(task);
  auto& members = effective.members();
  std::erase_if(members, [](const Json::Member& member) { return member.first == "budget"; });
  if (task.output.schema) effective.set("output_schema", *task.output.schema);
  if (!task.functions.empty()) effective.set("functions", functions_json(task.functions));
  Json images = Json::array();
  for (const TaskImage& image : task.images) images.push_back(sha256_hex(image.content));
  if (!task.images.empty()) effective.set("image_contents", std::move(images));
  return "sha256:" + sha256_hex(write_json(effective));
}

}  // namespace sortie
