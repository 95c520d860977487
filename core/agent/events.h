#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/exit_code.h"
#include "core/catalog/cost.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "core/process/launcher.h"
#include "core/secrets/redact.h"

namespace sortie {

/// One thing that happened in a run: a transcript record without its envelope.
///
/// `type` and the members of `data` are those of the transcript (docs/formats.md#transcript); the
/// functions below make all of them, so that each shape is written once.
struct RunEvent {
  std::string type;  ///< "tool.output"
  int turn = 0;      ///< 0 before the first
  Json data;         ///< an object
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on(const RunEvent& event) = 0;
};

/// Redacts an event for the record, then hands it to its sinks in their order; what a sink shows to
/// people it has to redact for them. The
/// transcript is the first: an event is on disk before anyone sees it or acts on it.
///
/// Events may come from several threads, and reach the sinks one at a time.
class EventFanout : public EventSink {
 public:
  explicit EventFanout(const Redactor& redactor) : redactor_(redactor) {}
  /// Before any event.
  void add(EventSink& sink) { sinks_.push_back(&sink); }
  void on(const RunEvent& event) override;
  /// Of the last event: for what happens beside the turns.
  int turn() const noexcept { return turn_; }

 private:
  const Redactor& redactor_;
  std::vector<EventSink*> sinks_;
  std::mutex mutex_;
  std::atomic<int> turn_ = 0;
};

/// What a run begins with. The Json members are objects.
struct RunStart {
  std::string run_id;
  std::string run_key;
  Json task;       ///< source_json()
  Json policy;     ///< source_json()
  Json workspace;  ///< {"path","base_commit","dirty_digest","isolation","reason"}
  Json model;      ///< {"provider","name",…}
  Json sandbox;    ///< {"mode","layers":[…],"missing":[…],…}
  Json budget;     ///< to_json(TaskBudget), budget.h
  std::string resumed_from{};
  std::vector<std::string> warnings{};  ///< what the policy allows at the operator's own risk
};

/// A file that a run follows: {"digest","path","text"}; `text` is the effective, resolved one.
Json source_json(const std::string& digest, const std::string& path, const std::string& text);

RunEvent run_started_event(const RunStart& start);

RunEvent turn_started_event(int turn, std::size_t items, std::int64_t estimated_tokens,
                            Json budget_left);
/// With the items from request.first_new_item on in full; none of them for attempts after the
/// first, which send the same.
RunEvent model_request_event(int turn, const RequestRecord& request, int attempt,
                             const std::vector<Item>& items);
RunEvent model_retry_event(int turn, const RetryRecord& retry);
/// @param usage  by estimate: the provider tells it at the end of a response alone
/// @param model  that was asked
RunEvent model_cut_off_event(int turn, int attempt, const Usage& usage, const std::string& model,
                             const std::optional<Cost>& cost);
RunEvent model_fallback_event(int turn, const FallbackRecord& fallback);
/// Where an item could not be used, "output" has all of them as they came: a replay has to meet the
/// same trouble.
/// @param model      the one that answered: "openai gpt-5-codex"; "" is not recorded
/// @param cost       nothing: the price is not known
/// @param estimated  the usage is an estimate: the provider sent none
RunEvent model_response_event(int turn, const Response& response, const std::string& model = {},
                              const std::optional<Cost>& cost = {}, bool estimated = false);
/// @param check  "unusable_item", "reasoning_only", "incomplete", "transcript_limit", …
/// @param sent   what was sent back to the model; "" for nothing
RunEvent check_hit_event(int turn, const std::string& check, const std::string& saw,
                         const std::string& sent);

/// @param actions      array: the call taken apart (argv of each simple command, paths)
/// @param decision     object {"decision","rule"?,"part"?,"reason"?,"instead"?}
/// (policies/rules/decision.h),
///                     whose members become members of the record
/// @param audit_flags  array
RunEvent approval_event(int turn, const ToolCall& call, Json actions, Json decision,
                        Json audit_flags = Json::array());
/// @param origin  {"server","tool"} of a tool that another program offers, else null
RunEvent tool_call_event(int turn, const ToolCall& call, Json origin = {});

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
  /// {"session_id": N} of a command that goes on running, or that one has written to or waited for;
  /// {"content": […], "structured_content": …} that a server of tools has answered; or null.
  Json details{};
};
RunEvent tool_output_event(int turn, const ToolOutputRecord& record);

/// @param steps  array of {"step","status"}
RunEvent plan_updated_event(int turn, const std::string& explanation, Json steps);

/// What became of a server of tools.
struct McpServerRecord {
  std::string server{};            ///< its name in the task
  std::string state{};             ///< started | failed | died | restarted | tools_changed | ended
  std::string detail{};            ///< why, where it did not go well
  std::string protocol_version{};  ///< of a start
  std::string identity{};          ///< what it calls itself, with its version
  Json tools{};                    ///< array of the names that it offers the run; null: no news
  std::string pin{};               ///< "sha256:…" of its whole list of tools
};
RunEvent mcp_server_event(int turn, const McpServerRecord& record);
/// What a server of tools said beside its answers.
/// @param kind  stderr | log | bad_message | warning
RunEvent mcp_message_event(int turn, const std::string& server, const std::string& kind,
                           const std::string& text);

struct FileChange {
  std::string path;
  std::string kind;           ///< add | delete | update | move
  std::string moved_from{};   ///< of a move
  unsigned mode = 0644;       ///< after it; of a delete: before it
  std::string sha256_before;  ///< hex; "" where there was none
  std::string sha256_after;
};
RunEvent file_changed_event(int turn, const FileChange& change);

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
RunEvent network_connection_event(int turn, const NetworkRecord& record);

/// One command of a verification. `phase` is "before" (on the start state), "after", or
/// "run_tests" (the model asked for it).
struct VerificationRecord {
  std::string phase = "after";
  int round = 1;        ///< from 1; the coming one where the model asked
  std::string command;  ///< as written in the task
  std::vector<std::string> argv;
};
RunEvent verification_started_event(int turn, const VerificationRecord& record);
RunEvent verification_completed_event(int turn, const VerificationRecord& record,
                                      const ExitStatus& exit, const std::string& output,
                                      std::uint64_t dropped_bytes, bool passed);

/// A stage of the task as it begins.
struct StageRecord {
  std::string name;
  std::string prompt;              ///< as it is sent; "" for the stage that verifies
  std::vector<std::string> tools;  ///< that the model is shown
  std::string sandbox;             ///< the mode in force: "read-only", …
};
RunEvent stage_started_event(int turn, const StageRecord& stage);
/// @param reason  why it ended; "" where it ended as it should
/// @param turns   requests that it took
RunEvent stage_completed_event(int turn, const std::string& name, const std::string& reason,
                               int turns);

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
RunEvent context_compacted_event(int turn, const CompactionRecord& record);

/// @param which  "turns", "tool_calls", "tokens", "cost" (millionths of a USD) or "time"
///               (milliseconds)
RunEvent budget_exhausted_event(int turn, const std::string& which, std::int64_t limit,
                                std::int64_t used);

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
};
RunEvent run_completed_event(int turn, const RunEnd& end);

/// {"ending":"exited","code":0,"detail"?,"duration_ms"}.
Json to_json(const ExitStatus& exit);
/// "exited", "signalled", "timed_out", …
const char* name_of(Ending ending) noexcept;
/// The wire's own JSON where the provider sent the item, else a neutral form: {"type":"message",
/// "role","text"}, {"type":"tool_output","call_id","text","success","form"}, ….
Json to_json(const Item& item);
Json to_json(const Usage& usage);

}  // namespace sortie
