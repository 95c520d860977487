#pragma once

#include <algorithm>
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
  std::function<void(std::stop_token)> work{};     ///< of each call
  std::vector<std::string> reading;                ///< ids of calls that only read
  std::vector<std::size_t> together;               ///< sizes of the groups that were dispatched
  bool all_at_once = false;  ///< groups: also what stands behind a call that ends the run
  Json offered_by{};         ///< the origin of all calls

  std::vector<ToolSpec> specs() const override {
    std::vector<ToolSpec> specs;
    for (const auto& name : names)
      specs.push_back(
          {.name = name, .description = "Runs a command.", .parameters = Json::object()});
    return specs;
  }
  Json origin(const ToolCall&) const override { return offered_by; }
  bool reads_only(const ToolCall& call) const override {
    return std::find(reading.begin(), reading.end(), call.call_id) != reading.end();
  }
  void dispatch_together(std::span<const ToolCall> calls, int turn, const FitOutput& fit,
                         const std::function<void(CallResult)>& take,
                         std::stop_token stop) override {
    together.push_back(calls.size());
    if (all_at_once) {
      for (const ToolCall& call : calls) take(dispatch(call, turn, fit, stop));
      return;
    }
    ToolHost::dispatch_together(calls, turn, fit, take, stop);
  }
  CallResult dispatch(const ToolCall& call, int, const FitOutput& fit,
                      std::stop_token stop) override {
    dispatched.push_back(call.call_id);
    if (on_call) on_call(call);
    if (work) work(stop);
    const auto it = results.find(call.call_id);
    CallResult result = it != results.end() ? it->second : CallResult{{call.call_id, "ok"}};
    fit(result.output);
    return result;
  }
};

}  // namespace sortie::test
