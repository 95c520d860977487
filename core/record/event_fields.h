#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "core/record/object_fields.h"

namespace sortie {

// The types of events and their members.

struct EventRow {
  const char* type;
  bool synced = false;
  const char* note = "";
};

inline EventRow row_of(const RunStart*) { return {"run.started", true, ""}; }
inline const RecordFields<RunStart>& fields_of(const RunStart*) {
  using O = RunStart;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      {"version", "count", "", true,
       [](const O& from, const char* name, Json& to) {
         to.members().emplace_back(name, from.version);
       },
       [](const Json& from, O& to) {
         constexpr std::int64_t kMost = std::numeric_limits<int>::max();  // a later version
         to.version = static_cast<int>(std::min(from.integer().value_or(to.version), kMost));
       }},
      F::always<&O::run_id>("run_id", "text"),
      F::always<&O::run_key>("run_key", "text"),
      F::always<&O::sortie>("sortie", "text", "(the program's version)"),
      F::always<&O::task>("task", "source", "and"),
      F::always<&O::policy>("policy", "source", "(`digest`, `path`, effective `text`)"),
      F::always<&O::workspace>(
          "workspace", "workspace",
          "(`path`, `seen_as` by commands, `base_commit`, `isolation`, `reason`)"),
      F::always<&O::model>(
          "model", "object",
          "(`provider`, `name`, `context_window`, `max_output_tokens`, `price` and where they come from, `fallback`, `table` with `version` and `date`)"),
      F::always<&O::sandbox>("sandbox", "sandbox", "(`mode`, `network`, layers)"),
      F::always<&O::budget>("budget", "object"),
      F::or_null<&O::resumed_from>("resumed_from", "text_or_null"),
      F::if_set<&O::warnings>("warnings", "list",
                              "about what the policy allows at the operator's own risk"),
  };
  return list;
}

inline EventRow row_of(const TurnStarted*) {
  return {"turn.started", false, "; all before it is synced"};
}
inline const RecordFields<TurnStarted>& fields_of(const TurnStarted*) {
  using O = TurnStarted;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::items>("items", "count", "in the history"),
      F::always<&O::estimated_tokens>("estimated_tokens", "count"),
      F::always<&O::budget_left>("budget_left", "object"),
  };
  return list;
}

inline EventRow row_of(const ModelRequested*) { return {"model.request", false, ""}; }
inline const RecordFields<ModelRequested>& fields_of(const ModelRequested*) {
  using O = ModelRequested;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::provider>("provider", "text"),
      F::always<&O::wire>("wire", "text"),
      F::always<&O::attempt>("attempt", "count"),
      F::always<&O::bytes>("bytes", "count", "and"),
      F::always<&O::sha256>("sha256", "text", "of the body"),
      F::always<&O::prefix_bytes>("prefix_bytes", "count", "shared with the request before"),
      F::always<&O::first_new_item>("first_new_item", "count"),
      F::always<&O::items>("items", "list", "from there on"),
  };
  return list;
}

inline EventRow row_of(const ModelCutOff*) {
  return {"model.cut_off", false, ": of an answer that had begun and broke off"};
}
inline const RecordFields<ModelCutOff>& fields_of(const ModelCutOff*) {
  using O = ModelCutOff;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::attempt>("attempt", "count"),
      F::always<&O::model>("model", "text", "of the run, that gave it"),
      F::always<&O::tokens>("tokens", "tokens_or_null", "and"),
      F::always<&O::cost>("cost_usd", "any", "by estimate"),
  };
  return list;
}

inline EventRow row_of(const RetryRecord*) { return {"model.retry", false, ""}; }
inline const RecordFields<RetryRecord>& fields_of(const RetryRecord*) {
  using O = RetryRecord;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::attempt>("attempt", "count"),
      {"failure", "failure", "(`status`, `kind`, `message`)", true,
       [](const O& from, const char* name, Json& to) {
         to.members().emplace_back(
             name, Json::object(
                       {{"status", from.status}, {"kind", from.kind}, {"message", from.message}}));
       },
       [](const Json& from, O& to) {
         read_value(from["status"], to.status);
         read_value(from["kind"], to.kind);
         read_value(from["message"], to.message);
       }},
      F::always<&O::delay>("delay_ms", "count"),
      F::always<&O::retry_after>("retry_after_ms", "count_or_null"),
  };
  return list;
}

inline EventRow row_of(const FallbackRecord*) { return {"model.fallback", false, ""}; }
inline const RecordFields<FallbackRecord>& fields_of(const FallbackRecord*) {
  using O = FallbackRecord;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::from>("from", "text"),
      F::always<&O::to>("to", "text", "(provider and model)"),
      F::always<&O::reason>("reason", "text"),
      F::always<&O::dropped>("dropped_items", "count", ": how many could not be carried over"),
  };
  return list;
}

inline EventRow row_of(const ModelAnswered*) { return {"model.response", false, ""}; }
inline const RecordFields<ModelAnswered>& fields_of(const ModelAnswered*) {
  using O = ModelAnswered;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::id>("id", "text"),
      F::always<&O::served_model>("served_model", "text"),
      F::always<&O::items>(
          "items", "list",
          "as received (`chat`: the one assistant message, put together from its deltas)"),
      F::always<&O::usage>("usage", "any", "as the provider gave it"),
      F::always<&O::tokens>("tokens", "tokens_or_null"),
      F::always<&O::cost>("cost_usd", "any", "(`null`: the price is not known)"),
      F::always<&O::incomplete>("incomplete", "boolean"),
      F::always<&O::stop_reason>("stop_reason", "text"),
      F::always<&O::first_event>("first_event_ms", "count"),
      F::always<&O::duration>("duration_ms", "count"),
      F::if_set<&O::model>("model", "text", "of the run, that answered (\"openai gpt-5-codex\")"),
      F::later<&O::source>("source", "count",
                           "is its place (0: the task's own, n: the nth of `fallback`)"),
      F::if_set<&O::tokens_estimated>("tokens_estimated", "boolean",
                                      "where the provider gave no usage"),
      F::if_set<&O::repeated>(
          "repeated", "text",
          ": the passage that ended it by being repeated (`items` has its text then, with the passage once)"),
      F::if_set<&O::output>("output", "list", ": all items, where one could not be used"),
      F::if_set<&O::aside>("aside", "boolean",
                           "where it is no part of the conversation (a summary, notes)"),
      F::if_set<&O::rate_limits>("rate_limits", "any", ": the provider's headers on its limits"),
  };
  return list;
}

inline EventRow row_of(const CheckRecord*) { return {"check.hit", false, ""}; }
inline const RecordFields<CheckRecord>& fields_of(const CheckRecord*) {
  using O = CheckRecord;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::check>(
          "check", "text",
          "(`unusable_item`, `unknown_tool`, `unusable_arguments`, `output_cut`, `images_left_out`, `image_refused`, `leaked_call`, `repeated_call_ids`, `bad_summary`, `secret_in_message`, `protected_path_made`: what a command or another program made under a protected name, and was removed, …)"),
      F::always<&O::saw>("saw", "text"),
      F::or_null<&O::sent>("sent", "text_or_null", "back"),
      F::if_set<&O::calls>("calls", "list", "whose images were taken out of the history"),
  };
  return list;
}

inline EventRow row_of(const CallDecided*) { return {"approval", false, ""}; }
inline const RecordFields<CallDecided>& fields_of(const CallDecided*) {
  using O = CallDecided;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::call_id>("call_id", "text"),
      F::always<&O::tool>("tool", "text"),
      F::always<&O::actions>(
          "actions", "list",
          "(a command: `argv`, `workdir`; of a shell string also `commands`, the argv of each, or why it is `unreadable`; `input`: what is typed into it while it runs)"),
      F::always<&O::decision>("decision", "decision", "(allow, deny, forbid)"),
      F::if_set<&O::rule>("rule", "rule", "(`file`, `line`, `text`)"),
      F::if_set<&O::part>("part", "text"),
      F::if_set<&O::reason>("reason", "text"),
      F::if_set<&O::instead>("instead", "text"),
      F::if_set<&O::audited>("audited", "boolean"),
      F::if_set<&O::escalation>(
          "escalation", "object",
          "where a rule granted it (`writes`, `read_only`, `network`, `rules`)"),
      F::if_set<&O::strict>("strict", "decision", ": the decision on an audited one"),
      F::if_set<&O::approver>("approver", "approver", "(its answer)"),
      F::if_set<&O::would_allow_yaml>("would_allow_yaml", "text"),
      F::if_set<&O::would_allow>("would_allow", "object"),
      F::always<&O::audit_flags>("audit_flags", "list"),
  };
  return list;
}

inline EventRow row_of(const ToolCalled*) { return {"tool.call", true, ""}; }
inline const RecordFields<ToolCalled>& fields_of(const ToolCalled*) {
  using O = ToolCalled;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      {"call_id", "text", "", true,
       [](const O& from, const char* name, Json& to) {
         to.members().emplace_back(name, value_json(from.call.call_id));
       },
       [](const Json& from, O& to) { read_value(from, to.call.call_id); }},
      {"tool", "text", "", true,
       [](const O& from, const char* name, Json& to) {
         to.members().emplace_back(name, value_json(from.call.name));
       },
       [](const Json& from, O& to) { read_value(from, to.call.name); }},
      {"form", "form", "", true,
       [](const O& from, const char* name, Json& to) {
         to.members().emplace_back(name, value_json(from.call.form));
       },
       [](const Json& from, O& to) { read_value(from, to.call.form); }},
      {"arguments", "text", "as sent", true,
       [](const O& from, const char* name, Json& to) {
         to.members().emplace_back(name, value_json(from.call.arguments));
       },
       [](const Json& from, O& to) { read_value(from, to.call.arguments); }},
      F::if_set<&O::origin>("origin", "origin",
                            "(`server`, `tool`) where another program offers the tool"),
  };
  return list;
}

inline EventRow row_of(const ToolOutputRecord*) { return {"tool.output", true, ""}; }
inline const RecordFields<ToolOutputRecord>& fields_of(const ToolOutputRecord*) {
  using O = ToolOutputRecord;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::call_id>("call_id", "text"),
      F::always<&O::tool>("tool", "text"),
      F::always<&O::success>("success", "boolean"),
      {"status", "call_status", "(completed, failed, declined)", true,
       [](const O& from, const char* name, Json& to) {
         to.members().emplace_back(name, !from.declined.empty() ? "declined"
                                         : from.success         ? "completed"
                                                                : "failed");
       },
       [](const Json&, O&) {}},
      F::always<&O::exit>("exit", "exit_or_null"),
      F::always<&O::duration>("duration_ms", "count"),
      F::always<&O::output>(
          "output", "text",
          "(without the lines on exit and time that the model gets above a command's; of a long one below)"),
      F::always<&O::dropped_bytes>("dropped_bytes", "count", "that the model is not shown"),
      F::always<&O::changed_files>("changed_files", "list"),
      F::or_null<&O::verdict>("verdict", "text_or_null"),
      F::if_set<&O::shown>(
          "shown", "text",
          "to the model where that differs (head and tail of a long one, also one cut for the context window)"),
      F::if_set<&O::declined>("reason", "text", "of a declined one"),
      F::if_set<&O::details>(
          "details", "object",
          "(`session_id` of a command that goes on; `content` and `structured_content` of a server's answer)"),
      F::if_set<&O::cut>("cut", "boolean"),
  };
  return list;
}

inline EventRow row_of(const PlanUpdated*) { return {"plan.updated", false, ""}; }
inline const RecordFields<PlanUpdated>& fields_of(const PlanUpdated*) {
  using O = PlanUpdated;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::explanation>("explanation", "text"),
      F::always<&O::steps>("steps", "list"),
  };
  return list;
}

inline EventRow row_of(const FileChange*) { return {"file.changed", false, ""}; }
inline const RecordFields<FileChange>& fields_of(const FileChange*) {
  using O = FileChange;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::path>("path", "text"),
      F::always<&O::kind>("kind", "change", "(add, delete, update, move)"),
      {"mode", "mode", "", true,
       [](const O& from, const char* name, Json& to) {
         std::string digits;
         for (int shift = 9; shift >= 0; shift -= 3)
           digits += static_cast<char>('0' + (from.mode >> shift & 7));
         to.members().emplace_back(name, digits);
       },
       [](const Json& from, O& to) {
         to.mode = 0;
         for (const char digit : from.text()) to.mode = to.mode << 3 | (digit & 7);
       }},
      F::or_null<&O::sha256_before>("sha256_before", "text_or_null"),
      F::or_null<&O::sha256_after>("sha256_after", "text_or_null"),
      F::if_set<&O::moved_from>("moved_from", "text"),
  };
  return list;
}

inline EventRow row_of(const NetworkRecord*) { return {"network.connection", false, ""}; }
inline const RecordFields<NetworkRecord>& fields_of(const NetworkRecord*) {
  using O = NetworkRecord;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::id>("id", "count", ", the same for an opened connection and its end"),
      F::always<&O::state>("state", "connection_state", "(denied, opened, closed)"),
      {"allowed", "boolean", "", true,
       [](const O& from, const char* name, Json& to) {
         to.members().emplace_back(name, from.state != ConnectionState::denied);
       },
       [](const Json&, O&) {}},
      F::always<&O::host>("host", "text"),
      F::always<&O::port>("port", "count", "(0: unknown)"),
      F::always<&O::method>("method", "text"),
      F::or_null<&O::address>("address", "text_or_null", "connected to"),
      F::or_null<&O::rule>("rule", "text_or_null", "that allowed it"),
      F::or_null<&O::reason>("reason", "text_or_null", "why not or what failed"),
      F::always<&O::sent>("sent_bytes", "count", "and"),
      F::always<&O::received>("received_bytes", "count", "by the command"),
      F::always<&O::duration>("duration_ms", "count"),
  };
  return list;
}

inline EventRow row_of(const McpServerRecord*) { return {"mcp.server", false, ""}; }
inline const RecordFields<McpServerRecord>& fields_of(const McpServerRecord*) {
  using O = McpServerRecord;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::server>("server", "text"),
      F::always<&O::state>("state", "server_state",
                           "(started, failed, died, restarted, tools_changed, ended)"),
      F::or_null<&O::detail>("detail", "text_or_null", "(why it failed or died, how it ended)"),
      F::or_null<&O::protocol_version>("protocol_version", "text_or_null"),
      F::or_null<&O::identity>("identity", "text_or_null"),
      F::always<&O::tools>("tools", "list_or_null"),
      F::or_null<&O::pin>("pin", "text_or_null"),
  };
  return list;
}

inline EventRow row_of(const McpMessage*) {
  return {"mcp.message", false, ": what a server said beside its answers, 256 KiB each"};
}
inline const RecordFields<McpMessage>& fields_of(const McpMessage*) {
  using O = McpMessage;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::server>("server", "text"),
      F::always<&O::kind>("kind", "server_words", "(stderr, log, bad_message, warning)"),
      F::always<&O::text>("text", "text"),
  };
  return list;
}

inline EventRow row_of(const VerificationRecord*) { return {"verification.started", true, ""}; }
inline const RecordFields<VerificationRecord>& fields_of(const VerificationRecord*) {
  using O = VerificationRecord;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::phase>("phase", "phase", "(before, after, run_tests)"),
      F::always<&O::round>("round", "count"),
      F::always<&O::command>("command", "text"),
      F::always<&O::argv>("argv", "list"),
  };
  return list;
}

inline EventRow row_of(const VerificationCompleted*) {
  return {"verification.completed", true, ""};
}
inline const RecordFields<VerificationCompleted>& fields_of(const VerificationCompleted*) {
  using O = VerificationCompleted;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::phase>("phase", "phase"),
      F::always<&O::round>("round", "count"),
      F::always<&O::command>("command", "text"),
      F::always<&O::argv>("argv", "list"),
      F::always<&O::exit>("exit", "exit"),
      F::always<&O::output>("output", "text"),
      F::always<&O::dropped_bytes>("dropped_bytes", "count"),
      F::always<&O::passed>("passed", "boolean"),
      F::if_set<&O::compared>("compared", "text", "under verify.baseline"),
      F::if_set<&O::shown>("shown", "text", "where it differs"),
      F::if_set<&O::cut>("cut", "boolean"),
  };
  return list;
}

inline EventRow row_of(const StageRecord*) { return {"stage.started", true, ""}; }
inline const RecordFields<StageRecord>& fields_of(const StageRecord*) {
  using O = StageRecord;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::name>("name", "text"),
      F::or_null<&O::prompt>("prompt", "text_or_null", "(`null`: it verifies)"),
      F::always<&O::tools>("tools", "list", "that the model is shown"),
      F::always<&O::sandbox>("sandbox", "text", "in force"),
  };
  return list;
}

inline EventRow row_of(const StageCompleted*) { return {"stage.completed", true, ""}; }
inline const RecordFields<StageCompleted>& fields_of(const StageCompleted*) {
  using O = StageCompleted;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::name>("name", "text"),
      F::or_null<&O::reason>("reason", "text_or_null", "(`null`: it ended as it should)"),
      F::always<&O::turns>("turns", "count"),
  };
  return list;
}

inline EventRow row_of(const CompactionRecord*) { return {"context.compacted", true, ""}; }
inline const RecordFields<CompactionRecord>& fields_of(const CompactionRecord*) {
  using O = CompactionRecord;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::cause>("cause", "text", "(compact_at, context_length)"),
      F::always<&O::method>("method", "compaction", "(`summary`, `cut`)"),
      F::always<&O::turns_before>("turns_before", "count"),
      F::always<&O::turns_after>("turns_after", "count"),
      F::always<&O::tokens_before>("tokens_before", "count"),
      F::always<&O::tokens_after>("tokens_after", "count"),
      F::or_null<&O::summary>("summary", "text_or_null"),
      {"reason", "text", "where there is none", false,
       [](const O& from, const char* name, Json& to) {
         if (from.summary.empty()) to.members().emplace_back(name, from.reason);
       },
       [](const Json& from, O& to) { read_value(from, to.reason); }},
  };
  return list;
}

inline EventRow row_of(const BudgetExhausted*) { return {"budget.exhausted", false, ""}; }
inline const RecordFields<BudgetExhausted>& fields_of(const BudgetExhausted*) {
  using O = BudgetExhausted;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::which>(
          "which", "budget",
          "(turns, stage_turns, tool_calls, tokens, cost in millionths of a USD, time in milliseconds)"),
      F::always<&O::limit>("limit", "count"),
      F::always<&O::used>("used", "count"),
  };
  return list;
}

inline EventRow row_of(const RunEnd*) { return {"run.completed", true, ""}; }
inline const RecordFields<RunEnd>& fields_of(const RunEnd*) {
  using O = RunEnd;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      {"status", "text", "", true,
       [](const O& from, const char* name, Json& to) {
         to.members().emplace_back(name,
                                   from.status.empty() ? status_word(from.code) : from.status);
       },
       [](const Json& from, O& to) { read_value(from, to.status); }},
      {"exit_code", "count", "", true,
       [](const O& from, const char* name, Json& to) {
         to.members().emplace_back(name, static_cast<int>(from.code));
       },
       [](const Json& from, O& to) {
         std::int32_t code = -1;  // not one of our exit codes
         read_value(from, code);
         to.code = static_cast<ExitCode>(code);
       }},
      F::always<&O::reason>("reason", "text"),
      {"retryable", "boolean", "", true,
       [](const O& from, const char* name, Json& to) {
         to.members().emplace_back(name, from.retryable.value_or(is_retryable(from.code)));
       },
       [](const Json& from, O& to) { to.retryable = from.boolean(); }},
      F::always<&O::usage>("usage", "object"),
      F::always<&O::durations>("durations", "object"),
      F::always<&O::counts>("counts", "object"),
      F::always<&O::artifacts>("artifacts", "object", "with their digests"),
      F::if_set<&O::result>("result", "object",
                            ": all of `result.json` but the transcript's own digest"),
  };
  return list;
}

}  // namespace sortie
