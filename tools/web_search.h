#pragma once

#include "tools/tool.h"

namespace sortie {

/// `web_search`: declared to providers that search the web themselves. Nothing is run here; what
/// was searched for comes as an item of the response.
class WebSearch : public Tool {
 public:
  WebSearch();
  const ToolSpec& spec() const override { return spec_; }
  std::vector<Action> actions(const Json& arguments) const override;
  /// @throws ToolError  always: a model that calls it as a function is told that it can't
  ToolResult run(const Json& arguments, std::stop_token stop) override;

 private:
  ToolSpec spec_;
};

}  // namespace sortie
