#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/agent/budget.h"
#include "core/agent/earlier_work.h"
#include "core/agent/history.h"
#include "core/agent/model_limits.h"
#include "core/model/model.h"
#include "core/record/events.h"

namespace sortie {

/// The text of a response's messages; "" if it has none.
std::string message_of(const Response& response);

/// How long the history may grow.
struct ContextSettings {
  std::vector<ModelLimits> models{};  ///< by Item::source; empty: one unknown model
  double compact_at = 0.8;            ///< share of the context window
  int keep_last_turns = 4;
};

/// The conversation with the run's models: the history, the requests, and compaction to the context
/// window of the current model. Each request is a turn; it and its response are sent to the event
/// sink.
class Conversation {
 public:
  struct Parts {
    Model& model;
    EventSink& events;
    Budget& budget;
  };

  Conversation(Parts parts, ModelSettings settings, ContextSettings context);

  const History& history() const noexcept { return history_; }
  const ModelSettings& settings() const noexcept { return settings_; }
  int turn() const noexcept { return turn_; }
  /// The limits of the current model.
  const ModelLimits& limits() const { return context_.models[static_cast<std::size_t>(source_)]; }
  /// For the operator: how to get a longer response.
  std::string longer_output() const {
    return paid_output_ > 0 ? "--max-cost or --max-tokens: what was left paid for " +
                                  std::to_string(paid_output_) + " tokens of output"
                            : "a larger model.max_output_tokens in the task";
  }
  /// Estimated tokens of the next request.
  std::int64_t tokens() const noexcept { return tokens_of(history_); }

  /// Goes on with the conversation of an earlier process; to be called before anything else.
  void restore(EarlierConversation earlier);
  /// Prepares a response that is recorded and paid for already.
  void take_again(Response& response);

  void add(Item item) { history_.add(std::move(item)); }

  void add_user_message(const std::string& text) { add({Message{Message::Role::user, text}}); }
  void begin_prompt() { history_.begin_prompt(); }
  /// The items added from now on are a response and the outputs of its calls.
  void begin_turn() { history_.begin_turn(); }
  /// Begins a new epoch if the instructions or tools change, since requests then share no prefix
  /// with earlier ones.
  void begin_stage(ModelSettings settings, StageTurns turns);

  /// Changes the tools of the next requests within a stage: a new epoch.
  void change_tools(ModelSettings settings);

  /// A call was made, so that the next requests need not force one: a new epoch if they did.
  void meet_tool_choice();

  /// Tells the model what is left of the budgets, if it is little.
  void add_budget_notices();
  /// Compacts the history if it nears the context window.
  /// @return  whether it can be sent
  /// @throws Stopped, ModelError  as side_request()
  bool make_room(std::stop_token stop);
  /// The limit that forbids the next request, if any.
  std::optional<BudgetLimit> before_request() const { return before_request(history_); }
  /// The limit that forbids a retry of this turn's request, if any.
  std::optional<BudgetLimit> before_retry() const;
  /// Sends the history as the next request. Does not add the response to it.
  /// @param may_repeat  as Request::may_repeat
  /// @throws Stopped, ModelError  also "pin"
  Response ask(std::stop_token stop, bool may_repeat = false);
  /// Halves the history after the provider rejected it as too long.
  /// @return  whether it got shorter
  /// @throws Stopped, ModelError  as side_request()
  bool halve(std::stop_token stop);
  /// Replaces the images in the newest turn that has any by a text, after the provider refused
  /// them. Keeps the prompt's images.
  /// @param why  the provider's message
  /// @return     whether there were any
  bool take_out_images(const std::string& why);
  /// Asks for a text about the conversation, in a turn of its own that does not change the history.
  /// @param why_not  set to the reason if the result is ""
  /// @throws Stopped, ModelError  "pin"
  std::string side_request(std::string_view request, std::string& why_not, std::stop_token stop);
  /// Cuts an output that is too long for the context.
  /// @return  the number of bytes left out
  std::uint64_t fit(ToolOutput& output);

 private:
  class Recorder;
  enum class Means { ask_for_summary, cut_outputs };

  ContextBudget room() const { return context_budget(limits(), context_.compact_at); }
  std::int64_t tokens_of(const History& history) const noexcept {
    return history.estimated_tokens(fixed_bytes_);
  }
  void leave_out_images(ToolOutput& output);
  void keep_tools_of_calls(ModelSettings& settings) const;
  void set_source(int source);
  std::optional<BudgetLimit> before_request(const History& history) const;
  Response ask(const History& history, const ModelSettings& settings, std::stop_token stop,
               bool may_repeat = false);
  void set_aside(const History& history, bool begins_turn);
  void begin_request(const History& history);
  void record_response(Response& response, std::int64_t input_tokens, bool aside);
  void give_unique_ids(Response& response);
  void check_pin(const Response& response) const;
  std::string side_request(History conversation, std::string_view request, std::string& why_not,
                           std::stop_token stop, std::string* flaw);
  static std::string flaw_of(const Response& response, const std::string& text);
  std::string ask_for_summary(const History& conversation, std::string& why_not,
                              std::stop_token stop);
  bool compact(const std::string& cause, std::int64_t limit, Means means, std::stop_token stop);

  Parts parts_;
  ModelSettings settings_;
  ContextSettings context_;
  StageTurns stage_turns_;
  std::size_t fixed_bytes_ = 0;  ///< bytes of instructions and tools, for the estimate
  History history_;
  int turn_ = 0;
  int sent_epoch_ = 0;                        ///< the newest epoch of a request
  int source_ = 0;                            ///< the current model; see Item::source
  std::int64_t compacted_to_ = 0;             ///< tokens after the last compaction
  std::int64_t paid_output_ = 0;              ///< Budget::paid_output() of the last request
  bool usage_reported_ = false;               ///< missing usage has been reported
  bool ids_reported_ = false;                 ///< repeated call ids have been reported
  std::unordered_set<std::string> call_ids_;  ///< of all responses
};

}  // namespace sortie
