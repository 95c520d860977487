#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/agent/loop.h"
#include "tests/fakes/event_list.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_tool_host.h"
#include "tests/fakes/scripted_model.h"

namespace sortie::test {

/// A loop with everything around it in the open.
struct LoopFlight {
  explicit LoopFlight(TaskBudget limits = {}) : budget(limits, clock) {}

  LoopResult run(const std::string& prompt = "Do it.") {
    return loop.run({user(prompt)}, stop.get_token());
  }
  /// Whether each call in the history has exactly one output.
  bool calls_are_paired() const {
    std::map<std::string, int> open;
    for (const Item& item : loop.history().items()) {
      if (const auto* one = std::get_if<ToolCall>(&item.content)) ++open[one->call_id];
      if (const auto* one = std::get_if<ToolOutput>(&item.content)) --open[one->call_id];
    }
    for (const auto& [id, count] : open)
      if (count != 0) return false;
    return true;
  }
  std::string output_of(std::size_t index) const {
    std::vector<std::string> texts;
    for (const Item& item : loop.history().items())
      if (const auto* one = std::get_if<ToolOutput>(&item.content)) texts.push_back(one->text);
    return index < texts.size() ? texts[index] : "";
  }

  FakeClock clock;
  Budget budget;
  ScriptedModel model;
  FakeToolHost tools;
  EventList events;
  std::stop_source stop;
  Loop loop{{model, tools, events, budget}, ModelSettings{.model = "m", .max_output_tokens = 100}};
};

/// Cut off at the limit of its tokens.
inline Response incomplete(std::vector<Item> items) {
  Response one = response(std::move(items));
  one.incomplete = true;
  one.stop_reason = "max_output_tokens";
  return one;
}

inline Response paused(std::vector<Item> items) {
  Response one = response(std::move(items));
  one.paused = true;
  one.stop_reason = "pause_turn";
  return one;
}

inline Response unusable() {
  Response one = response({});
  one.findings = {"a function call without a call id"};
  return one;
}

inline Item reasoning() { return {Reasoning{"hm"}}; }

}  // namespace sortie::test
