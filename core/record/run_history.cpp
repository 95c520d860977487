#include "core/record/run_history.h"

#include <algorithm>
#include <charconv>
#include <ctime>
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

void HistoryMaker::on(const RunEvent& event, system_clock::time_point time) {
  const bool starts = std::holds_alternative<RunStart>(event.what);
  if (starts) {
    count_time();
    began_ = time;
  }
  number_ = event.turn;
  // A later command may add another end, which took no work.
  if (starts || !history_.end) time_ = time;
  std::visit([this](const auto& what) { add(what); }, event.what);
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

void HistoryMaker::add(const RunStart& start) {
  if (history_.starts.empty()) history_.began = time_;
  history_.starts.push_back(start);
  history_.end.reset();
  history_.success.reset();
}

void HistoryMaker::add(const StartChanges& changes) { history_.start_changes = changes; }

void HistoryMaker::add(const TurnStarted&) {
  auto& turns = history_.turns;
  if (!turns.empty() && turns.back().number != number_ && !turns.back().response)
    ++history_.answers;  // a refusal that the run has mended
  // A request that got no response is sent again, as the same turn.
  if (turns.empty() || turns.back().number != number_) turns.push_back({.number = number_});
}

void HistoryMaker::add(const ModelRequested& request) {
  if (request.attempt == 1) turn().requests.push_back(request);
}

void HistoryMaker::add(const ModelCutOff& cut_off) {
  turn().cut_off.push_back(cut_off);
  history_.used.tokens += counted_tokens(cut_off.tokens);
  if (cut_off.cost) history_.used.cost += *cut_off.cost;
}

void HistoryMaker::add(const ModelAnswered& answer) {
  turn().response = answer;
  ++history_.answers;
  if (answer.tokens) history_.used.tokens += counted_tokens(*answer.tokens);
  if (answer.cost) history_.used.cost += *answer.cost;
}

void HistoryMaker::add(const CheckRecord& check) { turn().checks.push_back(check); }

void HistoryMaker::add(const CallDecided& decided) {
  call(decided.call_id, [](const TurnCall& one) { return one.called.has_value(); }).decided =
      decided;
  if (decided.decision == Ruling::allow) history_.denials_in_a_row = 0;
}

void HistoryMaker::add(const ToolCalled& called) {
  TurnCall& one =
      call(called.call.call_id, [](const TurnCall& made) { return made.called.has_value(); });
  one.called = called;
  one.started = time_;
}

void HistoryMaker::add(const ToolOutputRecord& output) {
  call(output.call_id, [](const TurnCall& one) { return one.output.has_value(); }).output = output;
  if (was_counted(output)) ++history_.used.tool_calls;
  if (output.verdict == "denied" || output.verdict == "forbidden") ++history_.denials_in_a_row;
}

void HistoryMaker::add(const PlanUpdated& plan) {
  history_.plan = plan;
  if (!turn().calls.empty()) turn().calls.back().plan = plan;
}

void HistoryMaker::add(const FileChange& change) {
  if (!turn().calls.empty()) turn().calls.back().changes.push_back(change);
}

void HistoryMaker::add(const StageRecord& stage) {
  history_.stages.push_back({.start = stage, .turns_before = history_.turns.size()});
}

void HistoryMaker::add(const StageCompleted& stage) {
  if (!history_.stages.empty()) history_.stages.back().end = stage;
}

void HistoryMaker::add(const VerificationRecord& command) {
  auto& all = history_.verifications;
  const std::size_t turns = history_.turns.size();
  if (all.empty() || !belongs_to(all.back(), command, turns))
    all.push_back({.phase = command.phase, .round = command.round, .turns_before = turns});
  all.back().started.push_back(command);
}

void HistoryMaker::add(const VerificationCompleted& command) {
  if (!history_.verifications.empty()) history_.verifications.back().completed.push_back(command);
}

void HistoryMaker::add(const CompactionRecord& compaction) {
  history_.compactions.push_back({compaction, history_.turns.size()});
}

void HistoryMaker::add(const RunEnd& end) {
  history_.end = end;
  if (end.code == ExitCode::success) history_.success = end;
  const bool by_provider = end.code == ExitCode::refused || end.code == ExitCode::auth ||
                           end.code == ExitCode::unavailable || end.code == ExitCode::limited;
  if (by_provider && !history_.turns.empty() && !history_.turns.back().response) ++history_.answers;
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
  std::tm time{};
  time.tm_year = number(0, 4) - 1900;
  time.tm_mon = number(5, 2) - 1;
  time.tm_mday = number(8, 2);
  time.tm_hour = number(11, 2);
  time.tm_min = number(14, 2);
  time.tm_sec = number(17, 2);
  return system_clock::from_time_t(::timegm(&time)) + milliseconds(number(20, 3));
}

RunHistory read_run_history(const std::filesystem::path& transcript, EventSink* also) {
  const VerifyResult chain = verify_run(transcript);
  if (!chain.ok) throw Error(chain.problem, ExitCode::integrity);
  HistoryMaker maker;
  std::uint64_t records = 0;
  read_transcript(transcript, [&](const TranscriptRecord& record) {
    if (++records > chain.records) return;
    if (!record.event()) return;  // of a later version: nothing that this one could act on
    const RunEvent event = event_with_blobs(record, transcript);
    maker.on(event, time_of_timestamp(record.timestamp));
    if (also != nullptr) also->on(event);
  });
  RunHistory history = maker.take();
  history.records = chain.records;
  history.bytes = chain.bytes;
  history.last_digest = chain.last_digest;
  history.torn_bytes = chain.torn_bytes;
  return history;
}

Json items_sent(const RunHistory& history, std::size_t turn) {
  Json items = Json::array();
  const std::size_t turns = std::min(turn + 1, history.turns.size());
  for (std::size_t i = 0; i < turns; ++i)
    for (const ModelRequested& request : history.turns[i].requests) {
      const auto kept = std::min<std::size_t>(request.first_new_item, items.items().size());
      items.items().resize(kept);
      for (const Json& item : request.items.items()) items.push_back(item);
    }
  return items;
}

}  // namespace sortie
