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

/// `run_tests`: the task's own verification, run now; it is no round of it. Its commands are the
/// operator's, so that no command rule judges them and every policy allows the tool.
class RunTests : public Tool {
 public:
  /// How a verification went, for the model.
  struct Outcome {
    bool passed = true;
    std::string text;                  ///< redacted and cut: each command, its end, its output
    std::optional<ExitStatus> exit{};  ///< of the last command that ran
    std::string whole{};               ///< the file of the last output that is cut; "" for none
  };
  explicit RunTests(std::function<Outcome(std::stop_token)> verify);
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;

 private:
  std::function<Outcome(std::stop_token)> verify_;
};

/// `web_search`: declared to providers that search the web themselves. Nothing is run here; what
/// was searched for comes as an item of the response.
class WebSearch : public Tool {
 public:
  WebSearch();
  std::vector<Action> actions(const Json& arguments) const override;
  /// @throws ToolError  always: a model that calls it as a function is told that it can't
  ToolResult run(const Json& arguments, std::stop_token stop) override;
};

}  // namespace sortie
