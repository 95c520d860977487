#pragma once

#include <vector>

#include "core/record/events.h"
#include "core/record/record_fields.h"

namespace sortie {

// The objects in records: their members, in their order.

inline const RecordFields<SourceFile>& fields_of(const SourceFile*) {
  using O = SourceFile;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::digest>("digest", "string"),
      F::always<&O::path>("path", "string"),
      F::always<&O::text>("text", "text"),
  };
  return list;
}

inline const RecordFields<WorkspaceStart>& fields_of(const WorkspaceStart*) {
  using O = WorkspaceStart;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::path>("path", "string"),
      F::later<&O::seen_as>("seen_as", "string"),
      F::later<&O::base_commit>("base_commit", "string"),
      F::later<&O::isolation>("isolation", "string"),
      F::later<&O::reason>("reason", "text"),
  };
  return list;
}

inline const RecordFields<SandboxStart>& fields_of(const SandboxStart*) {
  using O = SandboxStart;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::later<&O::namespaces>("namespaces", "boolean"),
      F::later<&O::landlock_abi>("landlock_abi", "count"),
      F::later<&O::seccomp>("seccomp", "boolean"),
      F::later<&O::cgroup>("cgroup", "boolean"),
      F::later<&O::connect_gate>("connect_gate", "boolean"),
      F::later<&O::missing>("missing", "list"),
      F::later<&O::mode>("mode", "string"),
      F::later<&O::network>("network", "string"),
  };
  return list;
}

inline const RecordFields<Usage>& fields_of(const Usage*) {
  using O = Usage;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::input_tokens>("input_tokens", "integer"),
      F::always<&O::cached_input_tokens>("cached_input_tokens", "integer"),
      F::always<&O::output_tokens>("output_tokens", "integer"),
      F::always<&O::reasoning_output_tokens>("reasoning_output_tokens", "integer"),
      F::later<&O::cache_write_input_tokens>("cache_write_input_tokens", "integer"),
  };
  return list;
}

inline const RecordFields<ExitStatus>& fields_of(const ExitStatus*) {
  using O = ExitStatus;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::ending>("ending", "ending"),
      F::always<&O::code>("code", "integer"),
      F::always<&O::duration>("duration_ms", "count"),
      F::if_set<&O::detail>("detail", "string"),
      F::if_set<&O::ended_background>("ended_background", "boolean"),
  };
  return list;
}

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

inline const RecordFields<ToolOrigin>& fields_of(const ToolOrigin*) {
  using O = ToolOrigin;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::server>("server", "string"),
      F::always<&O::tool>("tool", "string"),
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

}  // namespace sortie
