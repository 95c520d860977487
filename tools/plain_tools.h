#pragma once

#include <functional>
#include <stop_token>

#include "tools/tool.h"

namespace sortie {

/// `update_plan`: the model's list of steps.
class UpdatePlan : public Tool {
 public:
  UpdatePlan();
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;
};

/// `run_tests`: runs the task's verification now, without counting as one of its rounds. The
/// commands are the operator's: no command rule applies to them, and every policy allows the tool.
class RunTests : public Tool {
 public:
  /// The result of a verification, for the model.
  struct Outcome {
    bool passed = true;
    std::string text;                  ///< redacted and cut: each command, how it ended, its output
    std::optional<ExitStatus> exit{};  ///< status of the last command that ran
    std::string whole{};               ///< file with the last output that was cut, or ""
  };
  explicit RunTests(std::function<Outcome(std::stop_token)> verify);
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;

 private:
  std::function<Outcome(std::stop_token)> verify_;
};

/// `web_search`: declared to providers that search the web themselves. Nothing runs here; the
/// searches arrive as items of the response.
class WebSearch : public Tool {
 public:
  WebSearch();
  std::vector<Action> actions(const Json& arguments) const override;
  /// @throws ToolError  always: it can't be called as a function
  ToolResult run(const Json& arguments, std::stop_token stop) override;
};

}  // namespace sortie
