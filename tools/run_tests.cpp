#include "tools/run_tests.h"

#include <utility>

namespace sortie {

RunTests::RunTests(std::function<Outcome(std::stop_token)> verify) : verify_(std::move(verify)) {
  spec_.name = "run_tests";
  spec_.description =
      "Runs the verification commands of the task now, in their order up to the first that fails, "
      "and returns whether they passed, their exit codes and output. It does not count as a round "
      "of the verification that follows your final message.";
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

}  // namespace sortie
