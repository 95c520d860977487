#include "core/base/fields.h"
#include "core/task/task.h"

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
                       {"isolation", workspace.isolation},
                       {"copy_limit", size_text(workspace.copy_limit)},
                       {"project_docs", strings(workspace.project_docs)},
                       {"project_docs_max_bytes", size_text(workspace.project_docs_max_bytes)}});
}

Json model_json(const TaskModel& model) {
  Json headers = Json::object();
  for (const auto& [name, value] : model.headers) headers.set(name, value);
  return Json::object(
      {{"provider", model.provider},
       {"name", model.name},
       {"effort", model.effort},
       {"base_url", text_or_null(model.base_url)},
       {"api_key_env", text_or_null(model.api_key_env)},
       {"cassette", text_or_null(model.cassette.string())},
       {"max_output_tokens", model.max_output_tokens},
       {"temperature", model.temperature ? Json(*model.temperature) : Json()},
       {"timeout", Json::object({{"connect", duration_text(model.connect_timeout)},
                                 {"first_event", duration_text(model.first_event_timeout)},
                                 {"idle", duration_text(model.idle_timeout)},
                                 {"total", duration_text(model.total_timeout)}})},
       {"retries", model.retries},
       {"headers", std::move(headers)}});
}

Json verify_json(const TaskVerify& verify) {
  Json commands = Json::array();
  for (const auto& command : verify.commands)
    commands.push_back(Json::object(
        {{"run", strings(command.argv)}, {"timeout", duration_text(command.timeout)}}));
  return Json::object({{"commands", std::move(commands)},
                       {"before", verify.before},
                       {"rounds", verify.rounds},
                       {"in", "run"}});
}

}  // namespace

Json task_json(const Task& task) {
  const TaskBudget& budget = task.budget;
  const TaskOutput& output = task.output;
  return Json::object(
      {{"version", 1},
       {"name", task.name},
       {"prompt", task.prompt},
       {"instructions", text_or_null(task.instructions)},
       {"policy", text_or_null(task.policy)},
       {"vars", variables_json(task.vars)},
       {"workspace", workspace_json(task.workspace)},
       {"model", model_json(task.model)},
       {"tools",
        Json::object({{"enable", task.tools.empty() ? Json("default") : strings(task.tools)}})},
       {"verify", verify_json(task.verify)},
       {"expect", Json::object({{"changes", task.expect.changes}})},
       {"budget", Json::object({{"turns", budget.turns},
                                {"tool_calls", budget.tool_calls},
                                {"tokens", budget.tokens},
                                {"time", duration_text(budget.time)}})},
       {"context", Json::object({{"shown_output", size_text(task.shown_output)}})},
       {"output", Json::object({{"diff", Json::object({{"context_lines", output.context_lines},
                                                       {"renames", output.renames},
                                                       {"base", output.base},
                                                       {"include", strings(output.include)}})}})}});
}

}  // namespace sortie
