#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/record/object_fields.h"
#include "core/record/run_events.h"

namespace sortie {

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

inline EventRow row_of(const RunStart*) {
  return {"run.started", false,
          "; on disk before a command of the task is started or a request is sent"};
}
inline const RecordFields<RunStart>& fields_of(const RunStart*) {
  using O = RunStart;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      {"version", "count", "", true,
       [](const O& from, const char* name, Json& to) {
         to.members().emplace_back(name, from.version);
       },
       [](Json& from, O& to) {
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
      F::if_set<&O::task_files>("task_files", "object",
                                "(`functions`, `output_schema`) that the task names"),
      F::or_null<&O::resumed_from>("resumed_from", "text_or_null",
                                   ": the number of the record before, where the run goes on"),
      F::if_set<&O::seal>(
          "seal", "text",
          "(number and birth time of the transcript's file: a run inside of the workspace that came with it has another)"),
      F::if_set<&O::warnings>("warnings", "list",
                              "about what the policy allows at the operator's own risk"),
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

inline EventRow row_of(const StartChanges*) {
  return {"workspace.state", false,
          "; what the workspace had at the start that its commit does not have, before the first "
          "effect of a call"};
}
inline const RecordFields<StartChanges>& fields_of(const StartChanges*) {
  using O = StartChanges;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::or_null<&O::digest>("digest", "text_or_null",
                             "of the list (`null`: it could not be read)"),
      F::always<&O::changes>("changes", "count", ": its lines"),
      F::always<&O::list>("list", "text",
                          ": `MARK NAME` of each changed path, sorted (evidence.md)"),
      F::if_set<&O::more>("more", "boolean", ": the list is not recorded, only its digest"),
      F::if_set<&O::not_read>("not_read", "text", ": why there is no digest"),
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
       [](Json& from, O& to) { read_value(from, to.status); }},
      {"exit_code", "count", "", true,
       [](const O& from, const char* name, Json& to) {
         to.members().emplace_back(name, static_cast<int>(from.code));
       },
       [](Json& from, O& to) {
         std::int32_t code = -1;  // not one of our exit codes
         read_value(from, code);
         to.code = static_cast<ExitCode>(code);
       }},
      F::always<&O::reason>("reason", "text"),
      {"retryable", "boolean", "", true,
       [](const O& from, const char* name, Json& to) {
         to.members().emplace_back(name, from.retryable.value_or(is_retryable(from.code)));
       },
       [](Json& from, O& to) { to.retryable = from.boolean(); }},
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
