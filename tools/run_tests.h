#pragma once

#include <functional>
#include <stop_token>

#include "tools/tool.h"

namespace sortie {

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
  const ToolSpec& spec() const override { return spec_; }
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;

 private:
  std::function<Outcome(std::stop_token)> verify_;
  ToolSpec spec_;
};

}  // namespace sortie
