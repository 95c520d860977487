#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/agent/budget.h"
#include "core/agent/history.h"
#include "core/agent/model_limits.h"
#include "core/model/model.h"
#include "core/record/events.h"

namespace sortie {

/// The text of its messages; "" for none.
std::string message_of(const Response& response);

/// What the history may grow to.
struct ContextSettings {
  std::vector<ModelLimits> models{};  ///< by Item::source; empty: one of which nothing is known
  double compact_at = 0.8;            ///< share of the context window
  int keep_last_turns = 4;
};

/// The conversation with the run's models: the history, the requests that carry it, and what keeps
/// it within the context window of the model in use. Each request is a turn, and is told to the
/// event sink with all that becomes of it.
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
  /// Of the model in use.
  const ModelLimits& terms() const { return context_.models[static_cast<std::size_t>(source_)]; }
  /// What to say to whom a response was too short.
  std::string longer_output() const {
    return paid_output_ > 0 ? "--max-cost or --max-tokens: what was left paid for " +
                                  std::to_string(paid_output_) + " tokens of output"
                            : "a larger model.max_output_tokens in the task";
  }
  /// Of the next request, by estimate.
  std::int64_t tokens() const noexcept { return tokens_of(history_); }

  void add(Item item) { history_.add(std::move(item)); }
  /// A user message of sortie's own.
  void tell_model(const std::string& text) { add({Message{Message::Role::user, text}}); }
  void begin_prompt() { history_.begin_prompt(); }
  /// The items added from here on are a response, with what it led to.
  void begin_turn() { history_.begin_turn(); }
  /// Where instructions or tools differ from those in force, requests share no prefix with the ones
  /// before: a new epoch.
  void begin_stage(ModelSettings settings, StageTurns turns);

  /// The tools are others from the next request on: a new epoch. The stage goes on.
  void change_tools(ModelSettings settings);

  /// What is left of the budgets is told to the model, where it is little.
  void give_notices();
  /// Shortens the history where it nears the window.
  /// @return  whether it can be sent
  /// @throws Stopped, ModelError  as ask_aside()
  bool make_room(std::stop_token stop);
  /// The limit that keeps the next request from being sent.
  std::optional<BudgetLimit> before_request() const { return before_request(history_); }
  /// The limit that keeps the request of this turn from being sent once more.
  std::optional<BudgetLimit> before_retry() const;
  /// Sends the history as the next request. The response is not yet part of it.
  /// @param may_repeat  as Request::may_repeat
  /// @throws Stopped, ModelError  also "pin"
  Response ask(std::stop_token stop, bool may_repeat = false);
  /// Makes it half as long, since the provider said that it is too long.
  /// @return  whether it is any shorter
  /// @throws Stopped, ModelError  as ask_aside()
  bool halve(std::stop_token stop);
  /// Takes the images of the newest turn that brought some out of the history, since the provider
  /// refused them; the prompt's stay. A text in their place says so.
  /// @param why  the provider's words
  /// @return     whether there were any
  bool take_out_images(const std::string& why);
  /// Asks for a text about the conversation, as a turn of its own that leaves the history as it is.
  /// @param why_not  gets why there is none, where it is ""
  /// @throws Stopped, ModelError  "pin"
  std::string ask_aside(std::string_view request, std::string& why_not, std::stop_token stop);
  /// Cuts an output that leaves no room for what is to come of it.
  /// @return  how many of its bytes are left out
  std::uint64_t fit(ToolOutput& output);

 private:
  class Recorder;
  enum class Means { ask_for_summary, cut_outputs };

  ContextBudget room() const { return room_of(terms(), context_.compact_at); }
  std::int64_t tokens_of(const History& history) const noexcept {
    return history.estimated_tokens(fixed_bytes_);
  }
  void leave_out_images(ToolOutput& output);
  void set_source(int source);
  std::optional<BudgetLimit> before_request(const History& history) const;
  Response ask(const History& history, const ModelSettings& settings, std::stop_token stop,
               bool may_repeat = false);
  void begin_request(const History& history);
  void settle(Response& response, std::int64_t input_tokens, bool aside);
  void check_pin(const Response& response) const;
  std::string aside(History conversation, std::string_view request, std::string& why_not,
                    std::stop_token stop);
  bool compact(const std::string& cause, std::int64_t limit, Means means, std::stop_token stop);

  Parts parts_;
  ModelSettings settings_;
  ContextSettings context_;
  StageTurns stage_turns_;
  std::size_t fixed_bytes_ = 0;  ///< of instructions and tools, for the estimate
  History history_;
  int turn_ = 0;
  int sent_epoch_ = 0;             ///< the newest that a request had
  int source_ = 0;                 ///< the model in use; see Item::source
  std::int64_t compacted_to_ = 0;  ///< tokens after the last compaction
  std::int64_t paid_output_ = 0;   ///< of the last request: Budget::paid_output()
  bool usage_told_ = false;        ///< that a response came without usage
};

}  // namespace sortie
