#include "core/record/event_codec.h"

#include <algorithm>

#include "core/record/call_event_fields.h"
#include "core/record/file_event_fields.h"
#include "core/record/model_event_fields.h"
#include "core/record/run_event_fields.h"
#include "core/record/workspace_event_fields.h"

namespace sortie {
namespace {

using What = decltype(RunEvent::what);

/// Calls `each` with a null pointer to each struct of an event.
template <class Each, std::size_t... Index>
void for_each_event(const Each& each, std::index_sequence<Index...>) {
  (each(static_cast<const std::variant_alternative_t<Index, What>*>(nullptr)), ...);
}
template <class Each>
void for_each_event(const Each& each) {
  for_each_event(each, std::make_index_sequence<std::variant_size_v<What>>());
}

template <class T>
RecordRow described(const EventRow& row, const T* type) {
  RecordRow record{row.type, row.synced, row.note, {}};
  for (const auto& field : fields_of(type))
    record.members.push_back({field.name, field.type, field.doc, field.required});
  return record;
}

template <class T>
RecordRow object_row(const char* name) {
  return described({name}, static_cast<const T*>(nullptr));
}

template <class Enum>
WordsRow enum_row(const char* name) {
  WordsRow row{name, {}};
  for (const auto& each : kSpelling<Enum>) row.words.emplace_back(each.name);
  return row;
}

/// The file with the event's whole output.
template <class T>
std::optional<SavedOutput> saved_output_of(const T& event) {
  if constexpr (requires { event.whole; })
    return event.whole;
  else
    return {};
}

}  // namespace

Record to_record(const RunEvent& event) {
  return std::visit(
      [&](const auto& what) {
        return Record{row_of(&what).type, event.turn, value_json(what), saved_output_of(what)};
      },
      event.what);
}

std::optional<RunEvent> read_event(std::string_view type, int turn, Json data) {
  std::optional<RunEvent> event;
  for_each_event([&]<class T>(const T* alternative) {
    if (event || type != row_of(alternative).type) return;
    event.emplace().turn = turn;
    read_value(data, event->what.emplace<T>());
  });
  return event;
}

const std::vector<RecordRow>& record_rows() {
  static const std::vector<RecordRow> rows = [] {
    std::vector<RecordRow> list;
    for_each_event([&](const auto* event) { list.push_back(described(row_of(event), event)); });
    return list;
  }();
  return rows;
}

const std::vector<RecordRow>& object_rows() {
  static const std::vector<RecordRow> rows = {
      object_row<SourceFile>("source"),         object_row<WorkspaceStart>("workspace"),
      object_row<SandboxStart>("sandbox"),      object_row<Usage>("tokens"),
      object_row<ExitStatus>("exit"),           object_row<RecordedRule>("rule"),
      object_row<RecordedApprover>("approver"), object_row<ToolOrigin>("origin")};
  return rows;
}

const std::vector<WordsRow>& words_rows() {
  static const std::vector<WordsRow> rows = {enum_row<Ending>("ending"),
                                             enum_row<Ruling>("decision"),
                                             enum_row<ApproverRuling>("approver_decision"),
                                             enum_row<ToolCall::Form>("form"),
                                             enum_row<ServerState>("server_state"),
                                             enum_row<ConnectionState>("connection_state"),
                                             enum_row<CompactionMethod>("compaction"),
                                             enum_row<ChangeKind>("change"),
                                             enum_row<VerificationPhase>("phase"),
                                             enum_row<BudgetKind>("budget")};
  return rows;
}

bool is_synced(std::string_view type) {
  const auto& rows = record_rows();
  return std::any_of(rows.begin(), rows.end(),
                     [&](const RecordRow& row) { return row.synced && type == row.type; });
}

std::vector<PlanStep> PlanUpdated::read_steps() const {
  std::vector<PlanStep> list;
  read_value(steps, list);
  return list;
}

RunEvent approval_event(int turn, const ToolCall& call, const Json& actions, const Json& decision,
                        const Json& audit_flags) {
  CallDecided decided{.call_id = call.call_id, .tool = call.name};
  read_value(decision, decided);
  read_value(actions, decided.actions);
  read_value(audit_flags, decided.audit_flags);
  return {turn, std::move(decided)};
}

RunEvent tool_call_event(int turn, const ToolCall& call, const Json& origin) {
  ToolCalled called{.call = call};
  read_value(origin, called.origin);
  return {turn, std::move(called)};
}

Json to_json(const Usage& usage) { return value_json(usage); }
Json to_json(const RecordedRule& rule) { return value_json(rule); }
Json to_json(const std::vector<RecordedAction>& actions) { return value_json(actions); }
Json to_json(const ExitStatus& exit) { return value_json(exit); }

}  // namespace sortie
