#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/spelling.h"
#include "core/catalog/item.h"
#include "core/json/json.h"
#include "core/record/command_output.h"

namespace sortie {

// Events of the model's calls: decisions, tools, their results, the servers that offer them.

template <>
inline constexpr auto kSpelling<ToolCall::Form> =
    std::to_array<Spelled<ToolCall::Form>>({{ToolCall::Form::function, "function"},
                                            {ToolCall::Form::custom, "custom"},
                                            {ToolCall::Form::local_shell, "local_shell"},
                                            {ToolCall::Form::web_search, "web_search"}});

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

/// Parts of a tool's result that are not text.
struct CallDetails {
  std::optional<std::int64_t> session_id{};  ///< the session of a command that is still running
  Json content{};                            ///< array: an MCP server's answer
  Json structured_content{};
  Json meta{};  ///< object: what the server tells programs beside its answer
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

}  // namespace sortie
