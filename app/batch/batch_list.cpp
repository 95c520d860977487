#include "app/batch/batch_list.h"

#include <filesystem>
#include <string>
#include <utility>

#include "app/batch/batch_plan.h"
#include "app/show/standard_output.h"
#include "core/text/text.h"

namespace sortie {
namespace {

Json json_of(const BatchRun& run, const ManifestTask& task) {
  Json vars = Json::object();
  for (const auto& [name, value] : run.vars) vars.set(name, value);
  const std::string place = BatchPlan::place_of(run);
  return Json::object({{"name", run.name},
                       {"task", task.task.string()},
                       {"workspace", place.empty() ? Json() : Json(place)},
                       {"vars", std::move(vars)},
                       {"instance", run.instance.empty() ? Json() : Json(run.instance)}});
}

std::string line_of(const BatchRun& run, const ManifestTask& task) {
  std::string text = run.name + "  " + std::filesystem::relative(task.task).string();
  if (const std::string place = BatchPlan::place_of(run); !place.empty()) text += "  " + place;
  for (const auto& [name, value] : run.vars) text += "  " + name + "=" + one_line(value, 60);
  return text;
}

}  // namespace

ExitCode list_batch(const BatchOptions& options) {
  const BatchPlan plan = make_batch_plan(options);
  std::string text;
  for (const std::size_t index : plan.own) {
    const BatchRun& run = plan.runs[index];
    const ManifestTask& task = plan.manifest.tasks[run.task];
    text += (options.json ? write_json(json_of(run, task)) : line_of(run, task)) + "\n";
  }
  if (options.json)
    print_data(text);
  else
    print_out(text);
  return ExitCode::success;
}

}  // namespace sortie
