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
#include "core/agent/earlier_work.h"
#include "core/agent/tool_host.h"
#include "core/base/error.h"
#include "core/model/leaked_calls.h"
#include "core/model/model.h"
#include "core/record/events.h"
#include "core/secrets/redact.h"

namespace sortie {

/// LoopResult::kind if the model repeatedly sent neither a message nor a call.
inline constexpr std::string_view kNoMessage = "reasoning_only";

/// The check of calls that a message has as text; LoopResult::kind if there were too many.
inline constexpr std::string_view kLeakedCall = "leaked_call";

/// How the agent's work ended.
struct LoopResult {
  ExitCode code = ExitCode::success;  ///< success: by a message without a tool call
  std::string reason{};               ///< one sentence for the operator; "" for success
  /// The model's failure ("quota"), the budget ("tokens"), or the check (kNoMessage).
  std::string kind{};
  std::string next{};  ///< what the operator can do: "--max-turns 400"; may be ""
  std::optional<std::chrono::milliseconds> retry_after{};
};

/// Passes events on, except for checks that an earlier process has recorded.
class CheckFilter : public EventSink {
 public:
  explicit CheckFilter(EventSink& to) : to_(to) {}
  void on(const RunEvent& event) override;
  void consume(RunEvent&& event) override;
  void leave_out(std::vector<CheckRecord> recorded) { recorded_ = std::move(recorded); }

 private:
  EventSink& to_;
  std::vector<CheckRecord> recorded_;
};

/// The settings of one stage of a task.
struct StageSettings {
  std::string name{};              ///< "" outside of stages
  std::string instructions{};      ///< the system prompt
  std::optional<int> max_turns{};  ///< requests in this stage; nothing: no limit of its own
  int turns_used = 0;              ///< of these, by an earlier process
  std::optional<OutputSchema> output_schema{};  ///< the schema of its final message
  std::string tool_choice = "auto";             ///< as ToolChoice::word
  bool ends_run = true;  ///< its last message is the run's final one: it must not have a secret
};

/// Asks the model, runs the tools it calls, and repeats until it sends a message without calls or
/// something ends the run. Events are sent to the sink before they take effect.
///
/// run() may be called again, with the feedback of a verification: history, budget and turn count
/// continue.
class Loop {
 public:
  struct Parts {
    Model& model;
    ToolHost& tools;
    EventSink& events;
    Budget& budget;
    const ResponseChecks* checks = nullptr;  ///< of each response, before its calls are run
    /// Called before each request: new instructions if the tool host's tools have changed since the
    /// last one. May be empty.
    std::function<std::optional<std::string>(std::stop_token)> renew{};
    /// Redacts a provider's message before the model sees it, and knows the secrets that the final
    /// message must not have. May be null.
    const Redactor* redactor = nullptr;
  };

  /// @param settings  `tools` is replaced by what the tool host offers
  Loop(Parts parts, ModelSettings settings, ContextSettings context = {});

  /// Tools are asked to stop at a stop request and when the budget's time is up.
  /// @param items  appended to the history first: the prompt, or feedback
  /// @throws Error  from the event sink (the transcript can't be written) or the launcher
  LoopResult run(std::vector<Item> items, std::stop_token stop);

  /// Takes up the conversation of an earlier process, before anything else.
  void restore(EarlierConversation earlier) { conversation_.restore(std::move(earlier)); }
  /// Goes on with its last turn, in the stage that this was in: what is recorded is not done again.
  /// A call without an output is answered as interrupted; a request without a response is sent
  /// again. @return, @throws  as run()
  LoopResult resume(EarlierTurn earlier, std::stop_token stop);

  /// Continues the conversation with other instructions, the current tools of the tool host, and
  /// its own limit. Begins a new epoch if instructions or tools change.
  void begin_stage(StageSettings stage);

  /// Asks the model for a text about the conversation, in a turn of its own: it is recorded and
  /// paid for, and does not change the history. Calls in the response are not run.
  /// @param why_not  set to the reason if the result is ""
  std::string side_request(std::string_view request, std::string& why_not, std::stop_token stop);

  const ModelSettings& settings() const noexcept { return conversation_.settings(); }
  const History& history() const noexcept { return conversation_.history(); }
  /// The model's last text message, with or without tool calls; "" if there is none. A message that
  /// was cut off at its length limit is joined with its continuation.
  const std::string& last_message() const noexcept { return last_message_; }
  std::string take_last_message() noexcept { return std::move(last_message_); }
  int turn() const noexcept { return conversation_.turn(); }

 private:
  /// A message that makes the model correct its response.
  struct Nudge {
    std::string check;
    std::string saw;
    std::string message;  ///< to the model
    std::string failure;  ///< to the operator, after too many nudges
    std::string next{};
  };

  void begin_run();
  LoopResult go_on(std::stop_token stop);
  std::optional<LoopResult> take_up(std::stop_token stop);
  void record_unseen_changes();
  const TurnCall* earlier_call(const ToolCall& call) const;
  /// How the call's verdict ends the run, if it does.
  static std::optional<LoopResult> end_by(const CallRecord& result);
  std::optional<LoopResult> give_earlier(const ToolCall& call, const TurnCall& earlier);
  std::optional<LoopResult> one_turn(std::stop_token stop);
  std::optional<LoopResult> begin_turn(std::stop_token stop);
  std::optional<LoopResult> ask_and_act(std::stop_token stop);
  /// Removes what the provider refused from the history, if possible.
  bool recover(const ModelError& error, std::stop_token stop);
  LoopResult failed(const ModelError& error);
  LoopResult no_room() const;
  std::optional<LoopResult> handle(Response response, std::stop_token stop);
  /// Checks the response's text. @return a correction for the model, or ""
  std::string check_text(const Response& response);
  void take_message(std::string message, bool continues);
  std::optional<LoopResult> stop_repeating(const std::string& passage);
  std::optional<LoopResult> correct(const std::vector<std::string>& findings);
  std::optional<LeakedCalls> leaked_calls() const;
  bool holds_secret();
  std::optional<LoopResult> correct(const LeakedCalls& leaked);
  std::optional<LoopResult> run_calls(const std::vector<ToolCall>& calls, std::stop_token stop);
  /// Why a call is not run.
  struct Rejection {
    std::optional<LoopResult> end{};  ///< set if it ends the run too
    std::string text{};               ///< for the model
    std::string verdict{};
  };
  std::optional<Rejection> rejection(const ToolCall& call);
  /// How many calls, from the first on, may run concurrently.
  std::size_t count_concurrent(std::span<const ToolCall> calls) const;
  std::optional<LoopResult> run_concurrent(std::span<const ToolCall> calls);
  /// Records a call's output and adds it to the conversation: the only place that does.
  void give_output(const ToolCall& call, CallRecord done);
  /// Answers the call without running it.
  void reject(const ToolCall& call, const std::string& text, const std::string& verdict);
  /// Sends the nudge, or ends the run after `most` of them in a row.
  std::optional<LoopResult> send_nudge(int& times, int most, const Nudge& nudge);
  LoopResult exhausted(const BudgetLimit& what);

  CheckFilter events_;
  Parts parts_;
  Conversation conversation_;
  std::optional<EarlierTurn> earlier_;  ///< while the response of an earlier process is acted on
  std::stop_token tools_stop_{};        ///< stop requested, or the budget's time is up
  bool too_long_ = false;               ///< the provider rejected the last request as too long
  std::string last_message_;
  std::vector<std::string> pieces_;  ///< of last_message_, as they were cut; none: it is one
  std::unordered_set<std::string> answered_;  ///< ids of the calls that have an output
  int corrections_ = 0;                       ///< in a row
  int text_corrections_ = 0;                  ///< in a row
  bool ends_run_ = true;                      ///< of the current stage
  bool secret_corrected_ = false;             ///< in this run()
  int leaks_ = 0;                             ///< messages with calls as text, in a row
  int incomplete_ = 0;                        ///< in a row
  bool continues_ = false;                    ///< the next message continues the last one
  std::string repeated_;                      ///< the passage repeated by the last response, or ""
  int repeats_ = 0;                           ///< responses that repeat it, in a row
  int reasoning_only_ = 0;                    ///< in a row
  int paused_ = 0;                            ///< in a row
};

}  // namespace sortie
