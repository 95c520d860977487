#pragma once

#include "tools/tool.h"

namespace sortie {

/// `update_plan`: the model's list of steps.
class UpdatePlan : public Tool {
 public:
  UpdatePlan();
  const ToolSpec& spec() const override { return spec_; }
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;

 private:
  ToolSpec spec_;
};

}  // namespace sortie
