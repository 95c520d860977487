#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/agent/tool_host.h"

namespace sortie::test {

/// Tools that answer from a map by call id; a call without an entry is answered "ok".
class FakeToolHost : public ToolHost {
 public:
  std::map<std::string, CallRecord> results;
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
  std::unique_ptr<PendingCall> prepare(const ToolCall& call, int, std::stop_token) override {
    return std::make_unique<Call>(*this, call);
  }
  void run(std::span<const std::unique_ptr<PendingCall>> calls, std::stop_token stop) override {
    if (calls.size() > 1) together.push_back(calls.size());
    ToolHost::run(calls, stop);
  }

 private:
  class Call : public PendingCall {
   public:
    Call(FakeToolHost& host, const ToolCall& call) : host_(host), call_(call) {}
    bool ends_run() const override {
      return !host_.all_at_once && result().verdict != CallVerdict::go_on;
    }
    void run(std::stop_token stop) override {
      host_.dispatched.push_back(call_.call_id);
      if (host_.on_call) host_.on_call(call_);
      if (host_.work) host_.work(stop);
    }
    CallRecord finish() override {
      CallRecord done = result();
      done.record.output = done.output.text;
      return done;
    }

   private:
    CallRecord result() const {
      const auto it = host_.results.find(call_.call_id);
      return it != host_.results.end() ? it->second : CallRecord{.output = {call_.call_id, "ok"}};
    }

    FakeToolHost& host_;
    ToolCall call_;
  };
};

}  // namespace sortie::test
