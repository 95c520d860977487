#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"
#include "core/record/events.h"

namespace sortie {

/// What a call left in the transcript. What is missing was never recorded: a call without `called`
/// was not run, one without `output` was cut off while it ran.
struct TurnCall {
  std::string call_id;
  std::optional<CallDecided> decided{};
  std::optional<ToolCalled> called{};
  std::chrono::system_clock::time_point started{};  ///< of `called`
  std::optional<ToolOutputRecord> output{};
  std::vector<FileChange> changes{};
  std::optional<PlanUpdated> plan{};
};

/// One turn: the request, the response, what the checks made of it, and its calls.
struct RecordedTurn {
  int number = 0;
  std::vector<ModelRequested> requests{};  ///< one a model that was asked; without its retries
  std::vector<ModelCutOff> cut_off{};
  std::optional<ModelAnswered> response{};  ///< nothing: the run ended before, or it failed
  std::vector<CheckRecord> checks{};
  std::vector<TurnCall> calls{};  ///< in the order of their first record

  bool is_aside() const { return response && response->aside; }
};

struct RecordedStage {
  StageRecord start;
  std::size_t turns_before = 0;  ///< index in RunHistory::turns of its first turn
  std::optional<StageCompleted> end{};
};

/// The commands of one verification.
struct RecordedVerification {
  VerificationPhase phase = VerificationPhase::after;
  int round = 1;
  std::size_t turns_before = 0;  ///< how many turns began before it
  std::vector<VerificationRecord> started{};
  std::vector<VerificationCompleted> completed{};  ///< one fewer if it was cut off in a command

  bool passed() const;
};

struct RecordedCompaction {
  CompactionRecord record;
  std::size_t turns_before = 0;
};

/// What a run has used of its budget.
struct UsedBudget {
  int turns = 0;       ///< without one that got no response: its request is sent again
  int tool_calls = 0;  ///< without those that were not run
  std::int64_t tokens = 0;
  Cost cost{};  ///< of the responses whose price is known
  std::chrono::milliseconds time{0};

  bool operator==(const UsedBudget&) const = default;
};

/// When a process was at work on a run: from its start to its last record.
struct WorkedTime {
  std::chrono::system_clock::time_point from{};
  std::chrono::system_clock::time_point to{};
};

/// The tokens that count towards `budget.tokens`.
std::int64_t counted_tokens(const Usage& usage) noexcept;

/// A transcript as a value, up to its last whole record, with the texts of its blobs.
struct RunHistory {
  std::vector<RunStart> starts{};  ///< the run's own, then one each time that it was resumed
  std::chrono::system_clock::time_point began{};  ///< of the first
  std::vector<RecordedTurn> turns{};
  std::vector<RecordedStage> stages{};
  std::vector<RecordedVerification> verifications{};
  std::vector<RecordedCompaction> compactions{};
  std::optional<PlanUpdated> plan{};  ///< the last one
  std::optional<StartChanges> start_changes{};
  std::optional<RunEnd> end{};  ///< of the last start; nothing: the run was killed
  /// The last one with the code 0, of the last start: a later one may say that the run could not be
  /// handed over.
  std::optional<RunEnd> success{};
  UsedBudget used{};
  std::vector<WorkedTime> worked{};  ///< one a start; UsedBudget::time is their sum
  int denials_in_a_row = 0;          ///< up to the last decision
  std::size_t answers = 0;           ///< what providers said: responses and refusals
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;  ///< of these records
  std::string last_digest;  ///< SHA-256 of the last one's line
  std::uint64_t torn_bytes = 0;
};

/// Makes a RunHistory of the events of a run.
class HistoryMaker : public EventSink {
 public:
  void on(const RunEvent& event) override { on(event, {}); }
  void on(RunEvent event, std::chrono::system_clock::time_point time);
  RunHistory take();

 private:
  void add(RunStart&& start);
  void add(StartChanges&& changes);
  void add(TurnStarted&& turn);
  void add(ModelRequested&& request);
  void add(ModelCutOff&& cut_off);
  void add(ModelAnswered&& answer);
  void add(CheckRecord&& check);
  void add(CallDecided&& decided);
  void add(ToolCalled&& called);
  void add(ToolOutputRecord&& output);
  void add(PlanUpdated&& plan);
  void add(FileChange&& change);
  void add(StageRecord&& stage);
  void add(StageCompleted&& stage);
  void add(VerificationRecord&& command);
  void add(VerificationCompleted&& command);
  void add(CompactionRecord&& compaction);
  void add(RunEnd&& end);
  template <class Other>
  void add(Other&&) {}  // nothing that a later run needs
  RecordedTurn& turn();
  template <class Has>
  TurnCall& call(const std::string& id, const Has& has);
  void count_time();

  RunHistory history_;
  int number_ = 0;  ///< turn of the event
  std::chrono::system_clock::time_point time_{};
  std::optional<std::chrono::system_clock::time_point> began_{};  ///< the current start
};

/// The time of a record's timestamp, which utc_timestamp() made; 1970 for other texts, and for days that
/// are in no calendar.
std::chrono::system_clock::time_point time_of_timestamp(std::string_view text);

/// Reads a transcript and checks its chain and blobs. A torn last line is left out.
/// @param also  gets every event, in order, also those before a record that is found to be changed; may
///              be null
/// @throws Error  ExitCode::usage if there is none, ExitCode::integrity if it was changed
RunHistory read_run_history(const std::filesystem::path& transcript, EventSink* also = nullptr);

/// All items of the last request that began in turns[0] to turns[turn], each as to_json(Item) wrote
/// it. They are the history's.
std::vector<const Json*> items_sent(const RunHistory& history, std::size_t turn);

}  // namespace sortie
