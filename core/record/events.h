#pragma once

#include <array>
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
#include "core/base/spelling.h"
#include "core/catalog/cost.h"
#include "core/catalog/item.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "core/process/launcher.h"

namespace sortie {

template <>
inline constexpr auto kSpelling<Ending> =
    std::to_array<Spelled<Ending>>({{Ending::exited, "exited"},
                                    {Ending::signalled, "signalled"},
                                    {Ending::timed_out, "timed_out"},
                                    {Ending::output_limit, "output_limit"},
                                    {Ending::memory_limit, "memory_limit"},
                                    {Ending::process_limit, "process_limit"},
                                    {Ending::disk_limit, "disk_limit"},
                                    {Ending::cancelled, "cancelled"},
                                    {Ending::not_started, "not_started"}});
template <>
inline constexpr auto kSpelling<ToolCall::Form> =
    std::to_array<Spelled<ToolCall::Form>>({{ToolCall::Form::function, "function"},
                                            {ToolCall::Form::custom, "custom"},
                                            {ToolCall::Form::local_shell, "local_shell"},
                                            {ToolCall::Form::web_search, "web_search"}});

// What can happen in a run: one struct for each type of record. Names and meanings of the JSON
// members are defined once, in event_fields.h.

/// The task or policy of a run; `text` is the effective one, with all defaults.
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
  std::string reason{};  ///< why this isolation was chosen

  const std::string& commands_see() const { return seen_as.empty() ? path : seen_as; }
};

/// The sandbox layers in force; the same members as SandboxLayers of policies/sandbox/keeper.
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

/// The first event of a run.
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
  std::vector<std::string> warnings{};  ///< risky permissions of the policy
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

/// A response was cut off after it had begun.
struct ModelCutOff {
  int attempt = 1;
  std::string model;  ///< the model that was asked
  Usage tokens;       ///< estimated: providers report usage at the end of a response only
  std::optional<Cost> cost;
};

struct ModelAnswered {
  std::string id;
  std::string served_model;
  Json items = Json::array();  ///< as they came on the wire; core/model/said.h reads them
  Json usage;                  ///< as the provider sent it
  std::optional<Usage> tokens;
  std::optional<Cost> cost;  ///< nothing: the price is unknown
  bool incomplete = false;
  std::string stop_reason = "completed";
  std::chrono::milliseconds first_event{0};
  std::chrono::milliseconds duration{0};
  std::string model{};  ///< which of the run's models answered: "openai gpt-5-codex"
  int source = 0;
  bool tokens_estimated = false;
  std::string repeated{};
  Json output{};       ///< array: all items, if one could not be used
  bool aside = false;  ///< not part of the conversation: a summary, run notes
  Json rate_limits{};  ///< the provider's headers on its limits: {"x-ratelimit-…": "…"}
};

struct CheckRecord {
  std::string check;  ///< "unusable_item", "reasoning_only", "incomplete", "transcript_limit", …
  std::string saw;
  std::string sent{};                ///< the text sent to the model; "" if none was
  std::vector<std::string> calls{};  ///< calls whose images were removed from the history
};

/// The decision on a call, strictest last.
enum class Ruling { allow, deny, forbid };
template <>
inline constexpr auto kSpelling<Ruling> = std::to_array<Spelled<Ruling>>(
    {{Ruling::allow, "allow"}, {Ruling::deny, "deny"}, {Ruling::forbid, "forbid"}});

enum class ActionKind { run_command, read_path, write_path, call_tool };
template <>
inline constexpr auto kSpelling<ActionKind> =
    std::to_array<Spelled<ActionKind>>({{ActionKind::run_command, "run_command"},
                                        {ActionKind::read_path, "read_path"},
                                        {ActionKind::write_path, "write_path"},
                                        {ActionKind::call_tool, "call_tool"}});

/// One thing that a call would do; only the members of its kind are set.
struct RecordedAction {
  std::optional<ActionKind> kind{};
  std::optional<std::vector<std::string>> argv{};
  std::optional<std::string> workdir{};
  std::optional<std::vector<std::vector<std::string>>> commands{};  ///< parsed from a shell string
  std::optional<std::string> unreadable{};                          ///< why it could not be parsed
  std::optional<std::string> input{};  ///< typed into a running command
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
template <>
inline constexpr auto kSpelling<ApproverRuling> =
    std::to_array<Spelled<ApproverRuling>>({{ApproverRuling::allow, "allow"},
                                            {ApproverRuling::deny, "deny"},
                                            {ApproverRuling::always, "always"},
                                            {ApproverRuling::abort, "abort"}});

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
  Json escalation{};               ///< object, if a rule granted an escalation
  std::optional<Ruling> strict{};  ///< what a strict mode would have decided on an audited call
  std::optional<RecordedApprover> approver{};
  std::string would_allow_yaml{};
  Json would_allow{};  ///< object: lines of a policy
  std::vector<std::string> audit_flags{};
};

/// The MCP server that offers a tool, and the tool's name there.
struct ToolOrigin {
  std::string server;
  std::string tool;
};

struct ToolCalled {
  ToolCall call;
  std::optional<ToolOrigin> origin{};
};

/// The file that holds a whole output, redacted: it is too long for memory.
///
/// The event's text is its head and tail, for the sinks that show it. The transcript records the
/// file as `output` instead, or that text if the file is gone by then.
struct SavedOutput {
  std::string path;
  std::string sha256;  ///< hex
  std::uint64_t bytes = 0;
};

/// Parts of a tool's result that are not text.
struct CallDetails {
  std::optional<std::int64_t> session_id{};  ///< the session of a command that is still running
  Json content{};                            ///< array: an MCP server's answer
  Json structured_content{};
};

/// The result of a tool call.
struct ToolOutputRecord {
  std::string call_id;
  std::string tool;
  bool success = true;
  std::optional<ExitStatus> exit{};  ///< how a command ended
  std::chrono::milliseconds duration{0};
  std::string output;                        ///< whole
  std::optional<std::string> shown{};        ///< as the model gets it, if that differs
  std::uint64_t dropped_bytes = 0;           ///< bytes of the output not shown to the model
  std::vector<std::string> changed_files{};  ///< "A path", "M path", "D path"
  std::string verdict{};                     ///< "denied", "forbidden", "budget", … or ""
  std::string declined{};                    ///< why the call was not run; "" if it was
  CallDetails details{};
  bool cut = false;                    ///< the transcript cut it at its size limit
  std::optional<SavedOutput> whole{};  ///< not a member of the record
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

enum class ServerState { started, failed, died, restarted, tools_changed, ended };
template <>
inline constexpr auto kSpelling<ServerState> =
    std::to_array<Spelled<ServerState>>({{ServerState::started, "started"},
                                         {ServerState::failed, "failed"},
                                         {ServerState::died, "died"},
                                         {ServerState::restarted, "restarted"},
                                         {ServerState::tools_changed, "tools_changed"},
                                         {ServerState::ended, "ended"}});

/// A change of an MCP server's state.
struct McpServerRecord {
  std::string server{};  ///< its name in the task
  ServerState state = ServerState::started;
  std::string detail{};            ///< the reason of a failure
  std::string protocol_version{};  ///< of a started server
  std::string identity{};          ///< the name and version it reports
  Json tools{};                    ///< array of the names of its tools; null: unchanged
  std::string pin{};               ///< "sha256:…" of its whole list of tools

  /// A sentence for people about a problem; "" if there is none.
  std::string problem() const;
};
/// A message of an MCP server that answers no request.
struct McpMessage {
  std::string server;
  std::string kind;  ///< stderr | log | bad_message | warning
  std::string text;
};

enum class ChangeKind { add, remove, update, move };
template <>
inline constexpr auto kSpelling<ChangeKind> =
    std::to_array<Spelled<ChangeKind>>({{ChangeKind::add, "add"},
                                        {ChangeKind::remove, "delete"},
                                        {ChangeKind::update, "update"},
                                        {ChangeKind::move, "move"}});

struct FileChange {
  std::string path;
  ChangeKind kind = ChangeKind::update;
  std::string moved_from{};   ///< the old path of a move
  unsigned mode = 0644;       ///< after the change; of a deleted file: before it
  std::string sha256_before;  ///< hex; "" if there was no file
  std::string sha256_after;
};

enum class ConnectionState {
  denied,
  opened,  ///< recorded before anything is connected
  closed,
};
template <>
inline constexpr auto kSpelling<ConnectionState> =
    std::to_array<Spelled<ConnectionState>>({{ConnectionState::denied, "denied"},
                                             {ConnectionState::opened, "opened"},
                                             {ConnectionState::closed, "closed"}});

/// One attempt of a command to reach a host, through the proxy or directly.
struct NetworkRecord {
  std::uint64_t id = 0;  ///< the same for an opened connection and its end
  ConnectionState state = ConnectionState::denied;
  std::string host;
  int port = 0;            ///< 0: unknown
  std::string method;      ///< "CONNECT", "GET", …; "connect" for a direct connection
  std::string rule{};      ///< the entry of `network.allow` that allowed it
  std::string reason{};    ///< why it was denied, or what failed
  std::string address{};   ///< the address connected to
  std::uint64_t sent = 0;  ///< bytes, by the command
  std::uint64_t received = 0;
  std::chrono::milliseconds duration{0};
};

enum class VerificationPhase {
  before,     ///< on the start state
  after,      ///< on the agent's work
  run_tests,  ///< the model called the tool
};
template <>
inline constexpr auto kSpelling<VerificationPhase> =
    std::to_array<Spelled<VerificationPhase>>({{VerificationPhase::before, "before"},
                                               {VerificationPhase::after, "after"},
                                               {VerificationPhase::run_tests, "run_tests"}});

/// One command of a verification.
struct VerificationRecord {
  VerificationPhase phase = VerificationPhase::after;
  int round = 1;        ///< from 1; for run_tests the next one
  std::string command;  ///< as written in the task
  std::vector<std::string> argv;
};
struct VerificationCompleted : VerificationRecord {
  ExitStatus exit;
  std::string output;
  std::optional<std::string> shown{};  ///< as the model gets it, if that differs
  std::uint64_t dropped_bytes = 0;
  bool passed = false;
  std::string compared{};  ///< a failure, with that of the start state (verify.baseline)
  bool cut = false;        ///< the transcript cut it at its size limit
  std::optional<SavedOutput> whole{};  ///< not a member of the record
};

/// The start of a stage.
struct StageRecord {
  std::string name;
  std::string prompt;              ///< as it is sent; "" for the stage that verifies
  std::vector<std::string> tools;  ///< the names that the model is shown
  std::string sandbox;             ///< the mode in force: "read-only", …
};
struct StageCompleted {
  std::string name;
  std::string reason;  ///< why it failed; "" if it did not
  int turns = 0;       ///< requests that it took
};

enum class CompactionMethod {
  summary,  ///< the model's summary replaces older turns
  cut,      ///< old tool outputs are cut: there is no summary
};
template <>
inline constexpr auto kSpelling<CompactionMethod> = std::to_array<Spelled<CompactionMethod>>(
    {{CompactionMethod::summary, "summary"}, {CompactionMethod::cut, "cut"}});

/// The history was shortened.
struct CompactionRecord {
  std::string cause;  ///< "compact_at", "context_length"
  CompactionMethod method = CompactionMethod::cut;
  std::string reason{};  ///< why there is no summary
  int turns_before = 0;
  int turns_after = 0;             ///< turns whose items were kept whole
  std::int64_t tokens_before = 0;  ///< estimates
  std::int64_t tokens_after = 0;
  std::string summary{};
};

enum class BudgetKind { turns, stage_turns, tool_calls, tokens, time, cost };
template <>
inline constexpr auto kSpelling<BudgetKind> =
    std::to_array<Spelled<BudgetKind>>({{BudgetKind::turns, "turns"},
                                        {BudgetKind::stage_turns, "stage_turns"},
                                        {BudgetKind::tool_calls, "tool_calls"},
                                        {BudgetKind::tokens, "tokens"},
                                        {BudgetKind::time, "time"},
                                        {BudgetKind::cost, "cost"}});

struct BudgetExhausted {
  BudgetKind which = BudgetKind::turns;
  std::int64_t limit = 0;  ///< time in milliseconds, cost in millionths of a USD
  std::int64_t used = 0;
};

/// The last event of a run.
struct RunEnd {
  ExitCode code = ExitCode::success;
  std::string status;  ///< "": status_word(code)
  std::string reason;
  Json usage;      ///< ci/tally.h: total and by model
  Json durations;  ///< milliseconds: model, tools, verification, own, total
  Json counts;     ///< turns, tool_calls, denials, retries
  /// File name in --out → "sha256:…", for all artifacts except the transcript and result.json.
  std::map<std::string, std::string> artifacts;
  std::optional<bool> retryable{};  ///< nothing: as the code says
  Json result{};                    ///< object: result.json without the transcript's digest
};

/// One event of a run: a transcript record without its envelope.
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
