#include "core/record/run_history.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/base/error.h"
#include "core/record/transcript_reader.h"

namespace sortie {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

/// Whether the call counts towards `budget.tool_calls`: the loop answered the others by itself.
bool was_counted(const ToolOutputRecord& output) {
  return output.verdict != "not_run" && output.verdict != "duplicate_call_id" &&
         output.verdict != "budget";
}

/// Whether a command belongs to the verification: not if it is of another one, or begins anew.
bool belongs_to(const RecordedVerification& last, const VerificationRecord& command,
                std::size_t turns) {
  return last.phase == command.phase && last.round == command.round && last.turns_before == turns &&
         last.started.size() == last.completed.size() &&
         command.command != last.started.front().command;
}

}  // namespace

bool RecordedVerification::passed() const {
  return started.size() == completed.size() &&
         std::all_of(completed.begin(), completed.end(),
                     [](const VerificationCompleted& one) { return one.passed; });
}

std::int64_t counted_tokens(const Usage& usage) noexcept {
  return std::max<std::int64_t>(0, usage.input_tokens - usage.cached_input_tokens) +
         std::max<std::int64_t>(0, usage.output_tokens);
}

void HistoryMaker::on(RunEvent event, system_clock::time_point time) {
  const bool starts = std::holds_alternative<RunStart>(event.what);
  if (starts) {
    count_time();
    began_ = time;
  }
  number_ = event.turn;
  // A later command may add another end, which took no work.
  if (starts || !history_.end) time_ = time;
  std::visit([this](auto& what) { add(std::move(what)); }, event.what);
}

RunHistory HistoryMaker::take() {
  count_time();
  if (!history_.turns.empty()) {
    const RecordedTurn& last = history_.turns.back();
    history_.used.turns = last.number - (last.response ? 0 : 1);
  }
  return std::move(history_);
}

/// Adds the time from the current start to its last record. What came after that is not known.
void HistoryMaker::count_time() {
  if (began_) {
    history_.used.time +=
        std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(time_ - *began_));
    history_.worked.push_back({*began_, time_});
  }
  began_.reset();
}

RecordedTurn& HistoryMaker::turn() {
  if (history_.turns.empty()) history_.turns.push_back({.number = number_});
  return history_.turns.back();
}

/// The call of that id that does not have its next record yet, or a new one.
template <class Has>
TurnCall& HistoryMaker::call(const std::string& id, const Has& has) {
  auto& calls = turn().calls;
  const auto found = std::find_if(calls.begin(), calls.end(), [&](const TurnCall& one) {
    return one.call_id == id && !has(one);
  });
  if (found != calls.end()) return *found;
  return calls.emplace_back(TurnCall{.call_id = id});
}

void HistoryMaker::add(RunStart&& start) {
  if (history_.starts.empty()) history_.began = time_;
  history_.starts.push_back(std::move(start));
  history_.end.reset();
  history_.success.reset();
}

void HistoryMaker::add(StartChanges&& changes) { history_.start_changes = std::move(changes); }

void HistoryMaker::add(TurnStarted&&) {
  auto& turns = history_.turns;
  if (!turns.empty() && turns.back().number != number_ && !turns.back().response)
    ++history_.answers;  // a refusal that the run has mended
  // A request that got no response is sent again, as the same turn.
  if (turns.empty() || turns.back().number != number_) turns.push_back({.number = number_});
}

void HistoryMaker::add(ModelRequested&& request) {
  if (request.attempt == 1) turn().requests.push_back(std::move(request));
}

void HistoryMaker::add(ModelCutOff&& cut_off) {
  history_.used.tokens += counted_tokens(cut_off.tokens);
  if (cut_off.cost) history_.used.cost += *cut_off.cost;
  turn().cut_off.push_back(std::move(cut_off));
}

void HistoryMaker::add(ModelAnswered&& answer) {
  ++history_.answers;
  if (answer.tokens) history_.used.tokens += counted_tokens(*answer.tokens);
  if (answer.cost) history_.used.cost += *answer.cost;
  turn().response = std::move(answer);
}

void HistoryMaker::add(CheckRecord&& check) { turn().checks.push_back(std::move(check)); }

void HistoryMaker::add(CallDecided&& decided) {
  if (decided.decision == Ruling::allow) history_.denials_in_a_row = 0;
  TurnCall& one =
      call(decided.call_id, [](const TurnCall& made) { return made.called.has_value(); });
  one.decided = std::move(decided);
}

void HistoryMaker::add(ToolCalled&& called) {
  TurnCall& one =
      call(called.call.call_id, [](const TurnCall& made) { return made.called.has_value(); });
  one.called = std::move(called);
  one.started = time_;
}

void HistoryMaker::add(ToolOutputRecord&& output) {
  if (was_counted(output)) ++history_.used.tool_calls;
  if (output.verdict == "denied" || output.verdict == "forbidden") ++history_.denials_in_a_row;
  TurnCall& one =
      call(output.call_id, [](const TurnCall& made) { return made.output.has_value(); });
  one.output = std::move(output);
}

void HistoryMaker::add(PlanUpdated&& plan) {
  if (!turn().calls.empty()) turn().calls.back().plan = plan;
  history_.plan = std::move(plan);
}

void HistoryMaker::add(FileChange&& change) {
  if (!turn().calls.empty()) turn().calls.back().changes.push_back(std::move(change));
}

void HistoryMaker::add(StageRecord&& stage) {
  history_.stages.push_back({.start = std::move(stage), .turns_before = history_.turns.size()});
}

void HistoryMaker::add(StageCompleted&& stage) {
  if (!history_.stages.empty()) history_.stages.back().end = std::move(stage);
}

void HistoryMaker::add(VerificationRecord&& command) {
  auto& all = history_.verifications;
  const std::size_t turns = history_.turns.size();
  if (all.empty() || !belongs_to(all.back(), command, turns))
    all.push_back({.phase = command.phase, .round = command.round, .turns_before = turns});
  all.back().started.push_back(std::move(command));
}

void HistoryMaker::add(VerificationCompleted&& command) {
  if (!history_.verifications.empty())
    history_.verifications.back().completed.push_back(std::move(command));
}

void HistoryMaker::add(CompactionRecord&& compaction) {
  history_.compactions.push_back({std::move(compaction), history_.turns.size()});
}

void HistoryMaker::add(RunEnd&& end) {
  const bool by_provider = end.code == ExitCode::refused || end.code == ExitCode::auth ||
                           end.code == ExitCode::unavailable || end.code == ExitCode::limited;
  if (by_provider && !history_.turns.empty() && !history_.turns.back().response) ++history_.answers;
  if (end.code == ExitCode::success) history_.success = end;
  history_.end = std::move(end);
}

system_clock::time_point time_of_timestamp(std::string_view text) {
  const auto number = [text](std::size_t at, std::size_t digits) {
    int value = 0;
    std::from_chars(text.data() + at, text.data() + at + digits, value);
    return value;
  };
  if (text.size() < 24) return {};
  // Later ones do not fit into nanoseconds since 1970.
  if (const int year = number(0, 4); year < 1970 || year > 2261) return {};
  // timegm(3) takes ten times as long, and a run that is resumed has thousands of records.
  const auto two_digits = [&number](std::size_t at) {
    return static_cast<unsigned>(number(at, 2));
  };
  const std::chrono::year_month_day date(std::chrono::year(number(0, 4)),
                                         std::chrono::month(two_digits(5)),
                                         std::chrono::day(two_digits(8)));
  if (!date.ok()) return {};
  return std::chrono::sys_days(date) + std::chrono::hours(number(11, 2)) +
         std::chrono::minutes(number(14, 2)) + std::chrono::seconds(number(17, 2)) +
         milliseconds(number(20, 3));
}

RunHistory read_run_history(const std::filesystem::path& transcript, EventSink* also) {
  HistoryMaker maker;
  const VerifyResult chain =
      verify_events(transcript, [&](RunEvent event, std::string_view timestamp) {
        if (also != nullptr) also->on(event);
        maker.on(std::move(event), time_of_timestamp(timestamp));
      });
  if (!chain.ok) throw Error(chain.problem, ExitCode::integrity);
  RunHistory history = maker.take();
  history.records = chain.records;
  history.bytes = chain.bytes;
  history.last_digest = chain.last_digest;
  history.torn_bytes = chain.torn_bytes;
  return history;
}

std::vector<const Json*> items_sent(const RunHistory& history, std::size_t turn) {
  std::vector<const Json*> items;
  const std::size_t turns = std::min(turn + 1, history.turns.size());
  for (std::size_t i = 0; i < turns; ++i)
    for (const ModelRequested& request : history.turns[i].requests) {
      items.resize(std::min<std::size_t>(request.first_new_item, items.size()));
      for (const Json& item : request.items.items()) items.push_back(&item);
    }
  return items;
}

}  // namespace sortie
