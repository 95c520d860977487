#include "tools/update_plan.h"

#include <algorithm>

#include "core/base/error.h"

namespace sortie {

UpdatePlan::UpdatePlan() {
  spec_.name = "update_plan";
  spec_.description =
      "Tells the plan: its steps and how far each one is. At most one step is in progress.";
  spec_.parameters = parse_json(R"({
    "type": "object",
    "properties": {
      "explanation": {"type": "string", "description": "Why the plan is another one now."},
      "plan": {"type": "array", "description": "All steps, in their order.", "items": {
        "type": "object",
        "properties": {
          "step": {"type": "string", "description": "What is to be done, in a few words."},
          "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]}
        },
        "required": ["step", "status"],
        "additionalProperties": false
      }}
    },
    "required": ["plan"],
    "additionalProperties": false
  })");
}

std::vector<Action> UpdatePlan::actions(const Json&) const { return {}; }

ToolResult UpdatePlan::run(const Json& arguments, std::stop_token) {
  const auto& steps = arguments["plan"].items();
  const auto in_progress = std::count_if(steps.begin(), steps.end(), [](const Json& step) {
    return step.string_at("status") == "in_progress";
  });
  if (in_progress > 1)
    throw ToolError("At most one step may be in_progress; these are " +
                    std::to_string(in_progress));
  ToolResult result;
  result.text = "Plan updated";
  result.plan = PlanUpdate{arguments.string_at("explanation"), arguments["plan"]};
  return result;
}

}  // namespace sortie
