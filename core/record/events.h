#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/catalog/cost.h"
#include "core/catalog/item.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "core/record/call_events.h"
#include "core/record/file_events.h"
#include "core/record/model_events.h"
#include "core/record/run_events.h"
#include "core/record/workspace_events.h"

namespace sortie {

// What can happen in a run: one struct for each type of record, in a header for each subject. Names
// and meanings of the JSON members are defined once, in the header SUBJECT_event_fields.h beside it.

/// One event of a run: a transcript record without its envelope.
struct RunEvent {
  int turn = 0;  ///< 0 before the first
  std::variant<RunStart, StartChanges, TurnStarted, ModelRequested, ModelCutOff, RetryRecord,
               PacedWait, FallbackRecord, ModelAnswered, CheckRecord, CallDecided, ToolCalled,
               ToolOutputRecord, PlanUpdated, FileChange, DiffWritten, NetworkRecord,
               McpServerRecord, McpMessage, VerificationRecord, VerificationCompleted, StageRecord,
               StageCompleted, CompactionRecord, BudgetExhausted, RunEnd>
      what;
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on(const RunEvent& event) = 0;
  /// The same for an event that nobody needs afterwards: one of megabytes need not be copied.
  virtual void consume(RunEvent&& event) { on(event); }
};

/// Facts about a response that are not in it.
struct AnswerNotes {
  std::string model{};         ///< the model that answered: "openai gpt-5-codex"; "": not recorded
  std::optional<Cost> cost{};  ///< nothing: the price is unknown
  bool estimated = false;      ///< the usage is an estimate: the provider sent none
  bool aside = false;          ///< not part of the conversation: a summary, run notes
};

/// Records the items from request.first_new_item on, for the first attempt only: the others send
/// the same.
RunEvent model_request_event(int turn, const RequestRecord& request, int attempt,
                             const std::vector<Item>& items);
/// If an item could not be used, "output" has all items as received, so that a replay reproduces
/// the problem.
RunEvent model_response_event(int turn, const Response& response, const AnswerNotes& notes = {});
/// @param actions   array: argv of each simple command, paths
/// @param decision  object {"decision","rule"?,"part"?,"reason"?,"instead"?, …}
RunEvent approval_event(int turn, const ToolCall& call, const Json& actions, const Json& decision,
                        const Json& audit_flags = Json::array());
/// @param origin  {"server","tool"} of an MCP server's tool, else null
RunEvent tool_call_event(int turn, const ToolCall& call, const Json& origin = {});
inline RunEvent check_hit_event(int turn, std::string check, std::string saw, std::string sent) {
  return {turn, CheckRecord{std::move(check), std::move(saw), std::move(sent)}};
}
inline RunEvent mcp_server_event(int turn, McpServerRecord record) {
  return {turn, std::move(record)};
}
inline RunEvent mcp_message_event(int turn, std::string server, std::string kind,
                                  std::string text) {
  return {turn, McpMessage{std::move(server), std::move(kind), std::move(text)}};
}

/// The wire's own JSON if the provider sent the item, else a neutral form: {"type":"message",
/// "role","text"}, {"type":"tool_output","call_id","text","success","form"}, ….
Json to_json(const Item& item);
Json to_json(const Usage& usage);
Json to_json(const RecordedRule& rule);
Json to_json(const std::vector<RecordedAction>& actions);
/// {"ending":"exited","code":0,"detail"?,"duration_ms"}.
Json to_json(const ExitStatus& exit);

}  // namespace sortie
