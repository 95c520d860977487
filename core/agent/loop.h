#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/agent/budget.h"
#include "core/agent/checks/response_checks.h"
#include "core/agent/conversation.h"
#include "core/agent/tool_host.h"
#include "core/base/error.h"
#include "core/model/model.h"
#include "core/record/events.h"
#include "core/secrets/redact.h"

namespace sortie {

/// LoopResult::kind where the model sent neither a message nor a call, also when told.
inline constexpr std::string_view kNoMessage = "reasoning_only";

/// Why the agent's turn ended.
struct LoopResult {
  ExitCode code = ExitCode::success;  ///< success: with a message and no tool call
  std::string reason{};               ///< one sentence for the operator; "" for success
  /// The model's failure ("quota"), the budget ("tokens"), or the check (kNoMessage).
  std::string kind{};
  std::string next{};  ///< what the operator may do: "--max-turns 400"; may be ""
  std::optional<std::chrono::milliseconds> retry_after{};
};

/// What holds from one stage of a task to the next.
struct StageSettings {
  std::string name{};              ///< "" outside of stages
  std::string instructions{};      ///< the system prompt
  std::optional<int> max_turns{};  ///< requests in this stage; nothing: no limit of its own
  std::optional<OutputSchema> output_schema{};  ///< of the message that ends it
};

/// Asks the model, runs the tools it calls, and so on until it ends its turn with a message or
/// something ends the run. All it does is told to the event sink before its effect.
///
/// run() may be called again, with the feedback of a verification: history, budget and the count
/// of turns go on.
class Loop {
 public:
  struct Parts {
    Model& model;
    ToolHost& tools;
    EventSink& events;
    Budget& budget;
    const ResponseChecks* checks = nullptr;  ///< of each response, before its calls are run
    /// Asked before each request: the instructions, where the tool host has other tools than at the
    /// last one. May be empty.
    std::function<std::optional<std::string>(std::stop_token)> renew{};
    /// Of a provider's words that the model is told. May be null.
    const Redactor* redactor = nullptr;
  };

  /// @param settings  `tools` is replaced by what the tool host offers
  Loop(Parts parts, ModelSettings settings, ContextSettings context = {});

  /// Tools are asked to stop when `stop` is, and when the budget's time is up.
  /// @param items  put at the end of the history first: the prompt, or feedback
  /// @throws Error  from the event sink (the transcript can't be written) or the launcher
  LoopResult run(std::vector<Item> items, std::stop_token stop);

  /// The same conversation goes on with other instructions, the tools that the tool host shows now,
  /// and a limit of its own. Where instructions or tools differ, requests share no prefix with the
  /// ones before: a new epoch.
  void begin_stage(StageSettings stage);

  /// Asks the model for a text about the conversation, as a turn of its own: it is on record and
  /// costs what it costs, and leaves the history as it is. Calls in the answer are not run.
  /// @param why_not  gets why there is none, where it is ""
  std::string ask_aside(std::string_view request, std::string& why_not, std::stop_token stop);

  const History& history() const noexcept { return conversation_.history(); }
  /// The last text message of the model, also one that came with tool calls; "" for none. One that
  /// was cut off at its length limit is joined with what followed it.
  const std::string& last_message() const noexcept { return last_message_; }
  std::string take_last_message() noexcept { return std::move(last_message_); }
  int turn() const noexcept { return conversation_.turn(); }

 private:
  /// A response that can't stand as it is.
  struct Nudge {
    std::string check;
    std::string saw;
    std::string message;  ///< to the model
    std::string failure;  ///< to the operator, when it was told often enough
    std::string next{};
  };

  std::optional<LoopResult> one_turn(std::stop_token stop);
  std::optional<LoopResult> begin_turn(std::stop_token stop);
  std::optional<LoopResult> ask_and_act(std::stop_token stop);
  /// Takes what the provider has refused out of the history, where the conversation can do without.
  bool mend(const ModelError& error, std::stop_token stop);
  LoopResult failed(const ModelError& error);
  LoopResult no_room() const;
  std::optional<LoopResult> take(Response response, std::stop_token stop);
  /// Looks at the response's words; what is to be sent back because of them, or "".
  std::string check_text(const Response& response);
  void take_message(std::string message, bool goes_on);
  std::optional<LoopResult> stop_repeating(const std::string& passage);
  std::optional<LoopResult> correct(const std::vector<std::string>& findings);
  std::optional<LoopResult> run_calls(const std::vector<ToolCall>& calls, std::stop_token stop);
  /// Why a call is not run; nothing where it may.
  struct Obstacle {
    std::optional<LoopResult> end{};  ///< of the run too
    std::string text{};               ///< for the model
    std::string verdict{};
  };
  std::optional<Obstacle> obstacle(const ToolCall& call);
  /// How many calls from the first on may run at the same time; 1: that one alone.
  std::size_t count_together(std::span<const ToolCall> calls) const;
  std::optional<LoopResult> run_together(std::span<const ToolCall> calls);
  /// Gives the call its output, and puts it on record: the only place that does.
  void give_output(const ToolCall& call, CallRecord done);
  /// Gives the call an output without running it.
  void answer(const ToolCall& call, const std::string& text, const std::string& verdict);
  /// Tells the model to go on after a response that is none, unless it was told so often enough.
  std::optional<LoopResult> go_on(int& times, int most, const Nudge& nudge);
  LoopResult exhausted(const BudgetLimit& what);

  Parts parts_;
  Conversation conversation_;
  std::stop_token tools_stop_{};  ///< of run(): its own, and the end of the budget's time
  bool too_long_ = false;         ///< the provider said so since the last response
  std::string last_message_;
  std::vector<std::string> pieces_;           ///< of last_message_, as they were cut
  std::unordered_set<std::string> answered_;  ///< ids of the calls that have an output
  int corrections_ = 0;                       ///< in a row
  int text_corrections_ = 0;                  ///< responses sent back for their words, in a row
  int incomplete_ = 0;                        ///< in a row
  bool goes_on_ = false;                      ///< the next message is the rest of the one before
  std::string repeated_;                      ///< what the last response repeated, or ""
  int repeats_ = 0;                           ///< responses of that passage, in a row
  int reasoning_only_ = 0;                    ///< in a row
  int paused_ = 0;                            ///< in a row
};

}  // namespace sortie
