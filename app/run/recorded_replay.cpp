#include "app/run/recorded_replay.h"

#include <chrono>
#include <map>
#include <optional>
#include <set>

#include "app/run/recorded_decisions.h"
#include "app/run/recorded_inputs.h"
#include "app/show/standard_output.h"
#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/provider/replay_model.h"
#include "core/record/transcript_reader.h"
#include "core/text/text.h"
#include "core/workspace/tree.h"
#include "policies/file/policy_loader.h"

namespace sortie {
namespace recorded_replay {

namespace fs = std::filesystem;

/// Counts nothing and shows nothing.
class Nobody : public StreamSink {
 public:
  void on_request(const RequestRecord&, int) override {}
  void on_cut_off(int, std::uint64_t) override {}
  void on_retry(const RetryRecord&) override {}
  void on_wait(const PacedWait&) override {}
  void on_fallback(const FallbackRecord&) override {}
};

/// The calls of all responses, by their ids, decoded again.
std::multimap<std::string, ToolCall> decoded_calls(const fs::path& transcript) {
  const std::vector<RecordedStream> streams = read_cassette(transcript);
  ReplayModel model(streams);
  const ModelSettings settings;
  const std::vector<Item> none;
  Nobody nobody;
  std::multimap<std::string, ToolCall> calls;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    try {
      const Response response = model.ask({.settings = settings, .items = none, .may_repeat = true},
                                          nobody, std::chrono::steady_clock::time_point::max(), {});
      for (const Item& item : response.items)
        if (const auto* call = std::get_if<ToolCall>(&item.content))
          calls.emplace(call->call_id, *call);
    } catch (const ModelError&) {  // a refusal that was recorded
    }
  }
  return calls;
}

/// The first recorded call that the responses do not give again.
std::string call_difference(const fs::path& transcript, std::size_t& compared) {
  const auto decoded = decoded_calls(transcript);
  std::string difference;
  read_transcript(transcript, [&](const TranscriptRecord& record) {
    if (record.type != "tool.call" || !difference.empty()) return;
    const RunEvent event = event_with_blobs(record, transcript);
    const ToolCall& call = std::get<ToolCalled>(event.what).call;
    const auto [first, last] = decoded.equal_range(call.call_id);
    if (first == last) return;  // found in a message's text, or given an id of its own
    bool same = false;
    for (auto one = first; one != last; ++one)
      same = same || (one->second.name == call.name && one->second.arguments == call.arguments);
    ++compared;
    if (!same)
      difference = "turn " + std::to_string(record.turn) + ": the call " +
                   one_line(call.call_id, 60) + "\n  recorded: " + one_line(call.name, 60) + " " +
                   one_line(call.arguments, 300) +
                   "\n  replayed: " + one_line(first->second.name, 60) + " " +
                   one_line(first->second.arguments, 300) + "\n";
  });
  return difference;
}

/// The recorded policy, loaded again.
Policy recorded_policy(const fs::path& path) {
  const RecordedInputs recorded = read_recorded_inputs(path);
  const fs::path folder = make_temporary_folder("sortie-replay");
  try {
    write_recorded_inputs(recorded, folder);
    Policy policy = load_policy((folder / "policy.yaml").string());
    if (const auto approval = value_named<Approval>(recorded.approval)) policy.approval = *approval;
    remove_tree(folder);
    return policy;
  } catch (...) {
    remove_tree(folder);
    throw;
  }
}

}  // namespace recorded_replay

ExitCode replay_record(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path transcript = read_recorded_inputs(path).transcript;
  std::size_t calls = 0;
  if (const std::string difference = recorded_replay::call_difference(transcript, calls);
      !difference.empty()) {
    print_error("replay: differs: " + difference);
    return ExitCode::integrity;
  }
  const Policy policy = recorded_replay::recorded_policy(path);
  const std::vector<RecordedRun> runs = {read_recorded_run(path.string())};
  const Backtest decided = backtest(policy, runs);
  std::size_t differing = 0;
  std::string text;
  for (const Backtest::Change& change : decided.changes) {
    // What the approver said, and what was true of the tree or the stage alone, is the record's.
    if (change.asks || change.call->depends) continue;
    if (++differing == 1)
      text = "replay: differs: turn " + std::to_string(change.call->turn) + ": the decision on " +
             one_line(change.call->tool, 60) + "\n  recorded: " + name_of(change.call->effect) +
             ": " + one_line(change.call->reason, 300) +
             "\n  replayed: " + name_of(change.now.effect) + ": " +
             one_line(change.now.reason, 300) + "\n";
  }
  if (differing > 0) {
    print_error(text);
    return ExitCode::integrity;
  }
  const auto counted = [](std::size_t count, const char* noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
  };
  print_out("replay: equal: " + counted(static_cast<std::size_t>(decided.calls), "decision") +
            ", " + counted(static_cast<std::size_t>(calls), "call") +
            " of the responses, the result and the diff, all from the record\n");
  return ExitCode::success;
}

}  // namespace sortie
