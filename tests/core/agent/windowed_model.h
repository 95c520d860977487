#pragma once

#include <algorithm>
#include <map>
#include "core/agent/loop.h"
#include "tests/fakes/event_list.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_tool_host.h"
#include "tests/fakes/scripted_model.h"

namespace sortie::test {

inline constexpr std::int64_t kWindow = 10'000;
inline constexpr std::int64_t kMaxOutput = 1'000;

inline ModelLimits terms(std::optional<ModelPrice> price = {}) {
  return {.name = "scripted",
          .context_window = kWindow,
          .max_output_tokens = kMaxOutput,
          .price = price};
}

/// A model whose provider has a window and counts tokens; it calls a tool each turn, and answers a
/// summary request as it is sent.
class WindowedModel : public Model {
 public:
  std::int64_t window = kWindow;
  int turns = 20;  ///< until it ends with a message
  std::function<Response(const Request&)> hand_over = [](const Request&) {
    return response({assistant("## Goal\nthe summary")});
  };
  std::function<std::optional<Usage>(std::int64_t)> usage = [](std::int64_t input) {
    return std::optional(Usage{.input_tokens = input, .output_tokens = 50});
  };
  std::string arguments = "{}";  ///< of each call
  int fall_back_at = -1;         ///< with this request another model takes over, of half the window
  std::vector<std::size_t> sizes;  ///< items of each request
  std::vector<int> epochs;
  int hand_overs = 0;
  std::int64_t largest = 0;  ///< tokens of a request that was answered

  static std::int64_t tokens_of(const std::vector<Item>& items) {
    std::size_t bytes = 0;
    for (const Item& item : items) {
      if (const auto* one = std::get_if<Message>(&item.content)) bytes += one->text.size();
      if (const auto* one = std::get_if<ToolOutput>(&item.content)) bytes += one->text.size();
      if (const auto* one = std::get_if<ToolCall>(&item.content)) bytes += one->arguments.size();
      bytes += 40;
    }
    return static_cast<std::int64_t>(bytes / 4);
  }

  Response ask(const Request& request, StreamSink& stream, std::chrono::steady_clock::time_point,
               std::stop_token) override {
    check_prefix(request);
    stream.on_request({.provider = "scripted", .wire = "none", .body_sha256 = "a"}, 1);
    if (static_cast<int>(sizes.size()) == fall_back_at) {
      stream.on_fallback({.from = "scripted", .to = "small", .reason = "gone", .source = 1});
      source_ = 1;
      window = kWindow / 2;
    }
    sizes.push_back(request.items.size());
    epochs.push_back(request.epoch);
    const std::int64_t input = tokens_of(request.items);
    if (input > window)
      throw ModelError("the input exceeds the context window", ExitCode::refused, "context_length");
    largest = std::max(largest, input);
    const auto* last = std::get_if<Message>(&request.items.back().content);
    const bool is_hand_over = last && last->text.starts_with("This conversation is about");
    hand_overs += is_hand_over ? 1 : 0;
    Response made = is_hand_over ? hand_over(request)
                    : --turns < 0
                        ? response({assistant("Done.")})
                        : response({call("c" + std::to_string(++calls_), "shell", arguments)});
    made.usage = usage(input);
    made.source = source_;
    return made;
  }

 private:
  /// Within an epoch items only ever grow.
  void check_prefix(const Request& request) {
    if (request.epoch == epoch_) {
      BOOST_TEST(request.items.size() >= items_.size());
      for (std::size_t i = 0; i < std::min(items_.size(), request.items.size()); ++i)
        BOOST_TEST(write_json(to_json(request.items[i])) == items_[i]);
    }
    BOOST_TEST(request.epoch >= epoch_);
    epoch_ = request.epoch;
    items_.clear();
    for (const Item& item : request.items) items_.push_back(write_json(to_json(item)));
  }

  int calls_ = 0;
  int source_ = 0;
  int epoch_ = -1;
  std::vector<std::string> items_;
};

struct Flight {
  explicit Flight(TaskBudget limits = {}, std::vector<ModelLimits> models = {terms()},
                  ModelSettings settings = {.model = "m", .max_output_tokens = kMaxOutput})
      : budget(limits, clock, models),
        loop({model, tools, events, budget}, std::move(settings),
             ContextSettings{.models = models}) {}

  LoopResult run() { return loop.run({user("Do it.")}, stop.get_token()); }
  void outputs_of(std::size_t bytes) {
    tools.on_call = [this, bytes](const ToolCall& call) {
      tools.results[call.call_id] = {ToolOutput{call.call_id, std::string(bytes, 'x')}};
    };
  }
  void check_paired() const {
    std::map<std::string, int> open;
    for (const Item& item : loop.history().items()) {
      if (const auto* one = std::get_if<ToolCall>(&item.content)) ++open[one->call_id];
      if (const auto* one = std::get_if<ToolOutput>(&item.content)) --open[one->call_id];
    }
    for (const auto& [id, count] : open) BOOST_TEST(count == 0, id);
  }

  FakeClock clock;
  Budget budget;
  WindowedModel model;
  FakeToolHost tools;
  EventList events;
  std::stop_source stop;
  Loop loop;
};

}  // namespace sortie::test
