#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/exit_code.h"
#include "core/catalog/cost.h"
#include "core/catalog/item.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "core/process/launcher.h"

namespace sortie {

// What can happen in a run: one struct for each type of record. How each is spelled, and what its
// members mean, stands in event_codec.cpp, once.

/// A file that a run follows; `text` is the effective, resolved one.
struct SourceFile {
  std::string digest;  ///< "sha256:…"
  std::string path;
  std::string text;
};

struct WorkspaceStart {
  std::string path;
  std::string seen_as;  ///< by commands
  std::string base_commit{};
  std::string isolation{};
  std::string reason{};  ///< why it is kept apart so

  const std::string& commands_see() const { return seen_as.empty() ? path : seen_as; }
};

/// The layers in force; as SandboxLayers of policies/sandbox/keeper.
struct SandboxStart {
  bool namespaces = false;
  int landlock_abi = 0;
  bool seccomp = false;
  bool cgroup = false;
  bool connect_gate = false;
  std::vector<std::string> missing{};
  std::string mode{};
  std::string network{};
};

/// What a run begins with.
struct RunStart {
  int version = 1;
  std::string run_id;
  std::string run_key;
  std::string sortie = SORTIE_VERSION;
  SourceFile task;
  SourceFile policy;
  WorkspaceStart workspace;
  Json model;  ///< {"provider","name",…}
  SandboxStart sandbox;
  Json budget;  ///< to_json(TaskBudget), core/agent/budget.h
  std::string resumed_from{};
  std::vector<std::string> warnings{};  ///< what the policy allows at the operator's own risk
};

struct TurnStarted {
  std::uint64_t items = 0;
  std::int64_t estimated_tokens = 0;
  Json budget_left;  ///< object
};

struct ModelRequested {
  std::string provider;
  std::string wire;
  int attempt = 1;
  std::uint64_t bytes = 0;
  std::string sha256;
  std::uint64_t prefix_bytes = 0;
  std::uint64_t first_new_item = 0;
  Json items = Json::array();  ///< from first_new_item on, each as to_json(Item) writes it
};

/// An answer had begun and broke off.
struct ModelCutOff {
  int attempt = 1;
  std::string model;  ///< that was asked
  Usage tokens;       ///< by estimate: the provider tells it at the end of a response alone
  std::optional<Cost> cost;
};

struct ModelAnswered {
  std::string id;
  std::string served_model;
  Json items = Json::array();  ///< as they came on the wire; core/model/said.h reads them
  Json usage;                  ///< as the provider gave it
  std::optional<Usage> tokens;
  std::optional<Cost> cost;  ///< nothing: the price is not known
  bool incomplete = false;
  std::string stop_reason = "completed";
  std::chrono::milliseconds first_event{0};
  std::chrono::milliseconds duration{0};
  std::string model{};  ///< of the run, that answered: "openai gpt-5-codex"
  int source = 0;
  bool tokens_estimated = false;
  std::string repeated{};
  Json output{};       ///< array: all items, where one could not be used
  bool aside = false;  ///< no part of the conversation: a summary, notes
};

struct CheckRecord {
  std::string check;  ///< "unusable_item", "reasoning_only", "incomplete", "transcript_limit", …
  std::string saw;
  std::string sent{};                ///< back to the model; "" for nothing
  std::vector<std::string> calls{};  ///< whose images were taken out of the history
};

/// What was decided of a call, strictest last.
enum class Ruling { allow, deny, forbid };

enum class ActionKind { run_command, read_path, write_path, call_tool };

/// What a call wants to do, taken apart; members that its kind has not are not set.
struct RecordedAction {
  std::optional<ActionKind> kind{};
  std::optional<std::vector<std::string>> argv{};
  std::optional<std::string> workdir{};
  std::optional<std::vector<std::vector<std::string>>> commands{};  ///< of a shell string
  std::optional<std::string> unreadable{};                          ///< why there are none
  std::optional<std::string> input{};  ///< what is typed into a running command
  std::optional<std::string> path{};
  std::optional<std::string> name{};
  std::vector<std::string> other_names{};
  bool operator==(const RecordedAction&) const = default;
};

struct RecordedRule {
  std::string file;
  int line = 0;
  std::string text;
  bool operator==(const RecordedRule&) const = default;
};

enum class ApproverRuling { allow, deny, always, abort };

struct RecordedApprover {
  ApproverRuling decision = ApproverRuling::deny;
  std::optional<std::string> reason{};
  std::optional<std::chrono::milliseconds> duration{};
  std::optional<std::string> failure{};
  bool remembered = false;
};

struct CallDecided {
  std::string call_id;
  std::string tool;
  std::vector<RecordedAction> actions{};
  Ruling decision = Ruling::deny;
  std::optional<RecordedRule> rule{};
  std::string part{};
  std::string reason{};
  std::string instead{};
  bool audited = false;
  Json escalation{};               ///< object, where a rule granted it
  std::optional<Ruling> strict{};  ///< of an audited one
  std::optional<RecordedApprover> approver{};
  std::string would_allow_yaml{};
  Json would_allow{};  ///< object: lines of a policy
  std::vector<std::string> audit_flags{};
};

/// The tool of another program.
struct ToolOrigin {
  std::string server;
  std::string tool;
};

struct ToolCalled {
  ToolCall call;
  std::optional<ToolOrigin> origin{};
};

/// An output that stands whole in a file, redacted, since it is too long to be held in memory. The
/// transcript keeps the file as the `output` of the record, in place of the text that the event
/// has: its head and tail, for the sinks that show it. The file may be gone by then: the text is
/// recorded then.
struct SavedOutput {
  std::string path;
  std::string sha256;  ///< hex
  std::uint64_t bytes = 0;
};

/// What a tool tells of its result beside the text.
struct CallDetails {
  std::optional<std::int64_t> session_id{};  ///< of a command that goes on running
  Json content{};                            ///< array: what a server of tools has answered
  Json structured_content{};
  CallDetails() = default;
  /// {"session_id"} or {"content","structured_content"?}; others are left out.
  CallDetails(const Json& details);  // NOLINT(google-explicit-constructor)
};

/// What became of a tool call.
struct ToolOutputRecord {
  std::string call_id;
  std::string tool;
  bool success = true;
  std::optional<ExitStatus> exit{};  ///< of a command
  std::chrono::milliseconds duration{0};
  std::string output;                        ///< whole
  std::optional<std::string> shown{};        ///< as the model gets it, where it differs
  std::uint64_t dropped_bytes = 0;           ///< of the output, not shown to the model
  std::vector<std::string> changed_files{};  ///< "A path", "M path", "D path"
  std::string verdict{};                     ///< "denied", "forbidden", "budget", … or ""
  std::string declined{};                    ///< why it was not run, where it was not; else ""
  CallDetails details{};
  bool cut = false;                    ///< by the transcript, at its limit
  std::optional<SavedOutput> whole{};  ///< no member of the record
};

struct PlanStep {
  std::string step;
  std::string status;
};
struct PlanUpdated {
  std::string explanation;
  Json steps;  ///< array of {"step","status"}, as the model wrote it
  std::vector<PlanStep> read_steps() const;
};

/// What became of a server of tools.
struct McpServerRecord {
  std::string server{};            ///< its name in the task
  std::string state{};             ///< started | failed | died | restarted | tools_changed | ended
  std::string detail{};            ///< why, where it did not go well
  std::string protocol_version{};  ///< of a start
  std::string identity{};          ///< what it calls itself, with its version
  Json tools{};                    ///< array of the names that it offers the run; null: no news
  std::string pin{};               ///< "sha256:…" of its whole list of tools

  /// What it tells of trouble, as a sentence for people; "" where there is none.
  std::string trouble() const;
};
/// What a server of tools said beside its answers.
struct McpMessage {
  std::string server;
  std::string kind;  ///< stderr | log | bad_message | warning
  std::string text;
};

struct FileChange {
  std::string path;
  std::string kind;           ///< add | delete | update | move
  std::string moved_from{};   ///< of a move
  unsigned mode = 0644;       ///< after it; of a delete: before it
  std::string sha256_before;  ///< hex; "" where there was none
  std::string sha256_after;
};

/// One attempt of a command to reach a host, through the proxy or past it.
struct NetworkRecord {
  std::uint64_t id = 0;  ///< the same for an opened connection and its end
  std::string state;     ///< "denied" | "opened" (before anything is connected to) | "closed"
  std::string host;
  int port = 0;            ///< 0: unknown
  std::string method;      ///< "CONNECT", "GET", …; "connect" for one past the proxy
  std::string rule{};      ///< the entry of `network.allow` that allowed it
  std::string reason{};    ///< why it was denied, or what failed
  std::string address{};   ///< that it led to
  std::uint64_t sent = 0;  ///< bytes, by the command
  std::uint64_t received = 0;
  std::chrono::milliseconds duration{0};
};

/// One command of a verification. `phase` is "before" (on the start state), "after", or
/// "run_tests" (the model asked for it).
struct VerificationRecord {
  std::string phase = "after";
  int round = 1;        ///< from 1; the coming one where the model asked
  std::string command;  ///< as written in the task
  std::vector<std::string> argv;
};
struct VerificationCompleted : VerificationRecord {
  ExitStatus exit;
  std::string output;
  std::optional<std::string> shown{};  ///< as the model gets it, where it differs
  std::uint64_t dropped_bytes = 0;
  bool passed = false;
  bool cut = false;                    ///< by the transcript, at its limit
  std::optional<SavedOutput> whole{};  ///< no member of the record
};

/// A stage of the task as it begins.
struct StageRecord {
  std::string name;
  std::string prompt;              ///< as it is sent; "" for the stage that verifies
  std::vector<std::string> tools;  ///< that the model is shown
  std::string sandbox;             ///< the mode in force: "read-only", …
};
struct StageCompleted {
  std::string name;
  std::string reason;  ///< why it ended; "" where it ended as it should
  int turns = 0;       ///< requests that it took
};

/// The history was shortened.
struct CompactionRecord {
  std::string cause;     ///< "compact_at", "context_length"
  std::string method;    ///< "summary", or "cut" where no summary could be had
  std::string reason{};  ///< why there is none
  int turns_before = 0;
  int turns_after = 0;             ///< of which the items were kept whole
  std::int64_t tokens_before = 0;  ///< estimates
  std::int64_t tokens_after = 0;
  std::string summary{};
};

struct BudgetExhausted {
  std::string which;  ///< turns, stage_turns, tool_calls, tokens, cost (millionths of a USD), time
  std::int64_t limit = 0;
  std::int64_t used = 0;
};

/// What a run ends with.
struct RunEnd {
  ExitCode code = ExitCode::success;
  std::string status;  ///< "" is status_word(code)
  std::string reason;
  Json usage;      ///< ci/tally.h: total and by model
  Json durations;  ///< milliseconds: model, tools, verification, own, total
  Json counts;     ///< turns, tool_calls, denials, retries
  /// File name in --out → "sha256:…", for every artifact but the transcript and result.json.
  std::map<std::string, std::string> artifacts;
  Json result{};  ///< object: all of result.json but the transcript's own digest
};

/// One thing that happened in a run: a transcript record without its envelope.
struct RunEvent {
  int turn = 0;  ///< 0 before the first
  std::variant<RunStart, TurnStarted, ModelRequested, ModelCutOff, RetryRecord, FallbackRecord,
               ModelAnswered, CheckRecord, CallDecided, ToolCalled, ToolOutputRecord, PlanUpdated,
               FileChange, NetworkRecord, McpServerRecord, McpMessage, VerificationRecord,
               VerificationCompleted, StageRecord, StageCompleted, CompactionRecord,
               BudgetExhausted, RunEnd>
      what;
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on(const RunEvent& event) = 0;
};

/// What a response itself does not say.
struct AnswerNotes {
  std::string model{};         ///< that answered: "openai gpt-5-codex"; "" is not recorded
  std::optional<Cost> cost{};  ///< nothing: the price is not known
  bool estimated = false;      ///< the usage is an estimate: the provider sent none
  bool aside = false;          ///< no part of the conversation: a summary, notes
};

/// With the items from request.first_new_item on in full; none of them for attempts after the
/// first, which send the same.
RunEvent model_request_event(int turn, const RequestRecord& request, int attempt,
                             const std::vector<Item>& items);
/// Where an item could not be used, "output" has all of them as they came: a replay has to meet the
/// same trouble.
RunEvent model_response_event(int turn, const Response& response, const AnswerNotes& notes = {});
/// @param actions   array: the call taken apart (argv of each simple command, paths)
/// @param decision  object {"decision","rule"?,"part"?,"reason"?,"instead"?, …}
RunEvent approval_event(int turn, const ToolCall& call, const Json& actions, const Json& decision,
                        const Json& audit_flags = Json::array());
/// @param origin  {"server","tool"} of a tool that another program offers, else null
RunEvent tool_call_event(int turn, const ToolCall& call, const Json& origin = {});
inline RunEvent check_hit_event(int turn, std::string check, std::string saw, std::string sent) {
  return {turn, CheckRecord{std::move(check), std::move(saw), std::move(sent)}};
}
inline RunEvent tool_output_event(int turn, ToolOutputRecord record) {
  return {turn, std::move(record)};
}
inline RunEvent plan_updated_event(int turn, std::string explanation, Json steps) {
  return {turn, PlanUpdated{std::move(explanation), std::move(steps)}};
}
inline RunEvent mcp_server_event(int turn, McpServerRecord record) {
  return {turn, std::move(record)};
}
inline RunEvent mcp_message_event(int turn, std::string server, std::string kind,
                                  std::string text) {
  return {turn, McpMessage{std::move(server), std::move(kind), std::move(text)}};
}
inline RunEvent file_changed_event(int turn, FileChange change) {
  return {turn, std::move(change)};
}

/// "exited", "signalled", "timed_out", …
const char* name_of(Ending ending) noexcept;
const char* name_of(Ruling ruling) noexcept;
const char* name_of(ToolCall::Form form) noexcept;
/// The wire's own JSON where the provider sent the item, else a neutral form: {"type":"message",
/// "role","text"}, {"type":"tool_output","call_id","text","success","form"}, ….
Json to_json(const Item& item);
Json to_json(const Usage& usage);
Json to_json(const RecordedRule& rule);
Json to_json(const std::vector<RecordedAction>& actions);
/// {"ending":"exited","code":0,"detail"?,"duration_ms"}.
Json to_json(const ExitStatus& exit);

}  // namespace sortie
