#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/agent/tool_host.h"

namespace sortie::test {

/// Tools that answer from a map by call id; a call without an entry is answered "ok".
class FakeToolHost : public ToolHost {
 public:
  std::map<std::string, CallResult> results;
  std::vector<std::string> dispatched;             ///< call ids in order
  std::vector<std::string> names = {"shell"};      ///< of the tools
  std::function<void(const ToolCall&)> on_call{};  ///< while a call runs

  std::vector<ToolSpec> specs() const override {
    std::vector<ToolSpec> specs;
    for (const auto& name : names)
      specs.push_back(
          {.name = name, .description = "Runs a command.", .parameters = Json::object()});
    return specs;
  }
  CallResult dispatch(const ToolCall& call, int, const FitOutput& fit, std::stop_token) override {
    dispatched.push_back(call.call_id);
    if (on_call) on_call(call);
    const auto it = results.find(call.call_id);
    CallResult result = it != results.end() ? it->second : CallResult{{call.call_id, "ok"}};
    fit(result.output);
    return result;
  }
};

}  // namespace sortie::test
