#include "app/tool_choice.h"

#include <algorithm>

#include "core/agent/model_family.h"
#include "core/model/openai_models.h"
#include "core/model/provider.h"
#include "core/task/tool_names.h"

namespace sortie {
namespace {

/// A recording may be of any.
bool may_speak(const TaskModel& model, std::string_view wire) {
  return model.provider == "replay" || provider_named(model.provider).wire == wire;
}

}  // namespace

bool offers_local_shell(const TaskModel& model) {
  return knows_local_shell(model.name) && may_speak(model, "responses");
}

bool offers_web_search(const TaskModel& model) {
  // Chat Completions has no tools of a provider's own.
  return may_speak(model, "responses") || may_speak(model, "messages");
}

bool offers_view_image(const Task& task) {
  switch (takes_images(task.model.provider, task.model.name)) {
    case TakesImages::yes:
      return true;
    case TakesImages::no:
      return false;
    case TakesImages::unknown:
      break;
  }
  const auto names_it = [](const std::vector<std::string>& tools) {
    return std::find(tools.begin(), tools.end(), "view_image") != tools.end();
  };
  return names_it(task.tools) ||
         std::any_of(task.stages.begin(), task.stages.end(),
                     [&](const TaskStage& stage) { return names_it(stage.tools); });
}

bool searches_web(const Task& task) {
  const auto& others = task.model.fallback;
  return enables_tool(task.tools, "web_search") &&
         (offers_web_search(task.model) ||
          std::any_of(others.begin(), others.end(), offers_web_search));
}

}  // namespace sortie
