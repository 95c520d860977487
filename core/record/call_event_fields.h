#pragma once

#include "core/record/call_events.h"
#include "core/record/command_output_fields.h"
#include "core/record/object_fields.h"

namespace sortie {

inline const RecordFields<RecordedRule>& fields_of(const RecordedRule*) {
  using O = RecordedRule;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::file>("file", "string"),
      F::always<&O::line>("line", "line"),
      F::always<&O::text>("text", "text"),
  };
  return list;
}

inline const RecordFields<RecordedApprover>& fields_of(const RecordedApprover*) {
  using O = RecordedApprover;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::decision>("decision", "approver_decision"),
      F::if_set<&O::reason>("reason", "text"),
      F::if_set<&O::duration>("duration_ms", "count"),
      F::if_set<&O::failure>("failure", "text"),
      F::if_set<&O::remembered>("remembered", "boolean"),
  };
  return list;
}

inline const RecordFields<RecordedAction>& fields_of(const RecordedAction*) {
  using O = RecordedAction;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::if_set<&O::kind>("kind", "action_kind"),
      F::if_set<&O::argv>("argv", "list"),
      F::if_set<&O::workdir>("workdir", "text"),
      F::if_set<&O::commands>("commands", "list"),
      F::if_set<&O::unreadable>("unreadable", "text"),
      F::if_set<&O::input>("input", "text"),
      F::if_set<&O::path>("path", "text"),
      F::if_set<&O::name>("name", "text"),
      F::if_set<&O::other_names>("other_names", "list"),
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

inline const RecordFields<ToolOrigin>& fields_of(const ToolOrigin*) {
  using O = ToolOrigin;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::server>("server", "string"),
      F::always<&O::tool>("tool", "string"),
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
       [](Json& from, O& to) { read_value(from, to.call.call_id); }},
      {"tool", "text", "", true,
       [](const O& from, const char* name, Json& to) {
         to.members().emplace_back(name, value_json(from.call.name));
       },
       [](Json& from, O& to) { read_value(from, to.call.name); }},
      {"form", "form", "", true,
       [](const O& from, const char* name, Json& to) {
         to.members().emplace_back(name, value_json(from.call.form));
       },
       [](Json& from, O& to) { read_value(from, to.call.form); }},
      {"arguments", "text", "as sent", true,
       [](const O& from, const char* name, Json& to) {
         to.members().emplace_back(name, value_json(from.call.arguments));
       },
       [](Json& from, O& to) { read_value(from, to.call.arguments); }},
      F::if_set<&O::origin>("origin", "origin",
                            "(`server`, `tool`) where another program offers the tool"),
  };
  return list;
}

inline const RecordFields<CallDetails>& fields_of(const CallDetails*) {
  using O = CallDetails;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::if_set<&O::session_id>("session_id", "count"),
      F::if_set<&O::content>("content", "list"),
      F::if_set<&O::structured_content>("structured_content", "object"),
      F::if_set<&O::meta>("_meta", "object"),
  };
  return list;
}

inline EventRow row_of(const ToolOutputRecord*) { return {"tool.output", false, ""}; }
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
       [](Json&, O&) {}},
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
          "(`session_id` of a command that goes on; `content`, `structured_content` and `_meta` of a server's answer)"),
      F::if_set<&O::cut>("cut", "boolean"),
  };
  return list;
}

inline const RecordFields<PlanStep>& fields_of(const PlanStep*) {
  using O = PlanStep;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::later<&O::step>("step", "text"),
      F::later<&O::status>("status", "text"),
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

}  // namespace sortie
