#include "tools/plain_tools.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace sortie {

UpdatePlan::UpdatePlan() {
  spec_.name = "update_plan";
  spec_.description =
      "Updates the plan: its steps and the status of each. At most one step may be in_progress.";
  spec_.parameters = parse_json(R"({
    "type": "object",
    "properties": {
      "explanation": {"type": "string", "description": "Why the plan changed."},
      "plan": {"type": "array", "description": "All steps, in order.", "items": {
        "type": "object",
        "properties": {
          "step": {"type": "string", "description": "What to do, in a few words."},
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
    throw ToolError("At most one step may be in_progress, got " + std::to_string(in_progress));
  ToolResult result;
  result.text = "Plan updated";
  result.plan = PlanUpdated{arguments.string_at("explanation"), arguments["plan"]};
  return result;
}

RunTests::RunTests(std::function<Outcome(std::stop_token)> verify) : verify_(std::move(verify)) {
  spec_.name = "run_tests";
  spec_.description =
      "Runs the task's verification commands now: all of them, in order, stopping at the first "
      "failure. Returns whether they passed, their exit codes and output. Takes no arguments: a "
      "single test is a command of its own. Does not count as a round of the "
      "verification that follows your final message.";
  spec_.parameters =
      parse_json(R"({"type": "object", "properties": {}, "additionalProperties": false})");
}

std::vector<Action> RunTests::actions(const Json&) const { return {}; }

ToolResult RunTests::run(const Json&, std::stop_token stop) {
  Outcome outcome = verify_(stop);
  ToolResult result;
  result.head = outcome.passed ? "Passed.\n" : "Failed.\n";
  result.text = std::move(outcome.text);
  result.whole = std::move(outcome.whole);
  result.success = outcome.passed;
  result.exit = std::move(outcome.exit);
  return result;
}

WebSearch::WebSearch() {
  spec_.name = "web_search";
  spec_.description = "Searches the web. Run by the provider.";
  spec_.parameters = parse_json(R"({"type": "object", "properties": {}})");
  spec_.form = ToolCall::Form::web_search;
}

std::vector<Action> WebSearch::actions(const Json&) const { return {}; }

ToolResult WebSearch::run(const Json&, std::stop_token) {
  throw ToolError("web_search is run by the provider itself; it can't be called as a function");
}

}  // namespace sortie
