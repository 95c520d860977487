#include "app/run/found_attempts.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "app/artifacts/run_mark.h"
#include "app/run/found_run.h"
#include "ci/attestation.h"
#include "ci/result.h"
#include "core/files/files.h"
#include "core/files/new_file_mode.h"
#include "core/record/run_history.h"
#include "core/record/transcript.h"
#include "core/record/transcript_reader.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

/// For an attempt whose parent was killed: it ends by itself then.
constexpr std::chrono::seconds kForItsEnd{15};

AttemptEnd cut_off(int number, const UsedBudget& used) {
  return {.number = number,
          .status = AttemptEnd::kKilled,
          .code = ExitCode::environment,
          .reason = "attempt " + std::to_string(number) + " was killed",
          .turns = used.turns,
          .tool_calls = used.tool_calls,
          .tokens = used.tokens,
          .cost = used.cost,
          .duration = used.time};
}

/// @param worked  gets when it was at work
FoundAttempt find_attempt(int number, const fs::path& folder, std::vector<WorkedTime>& worked) {
  FoundAttempt found;
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(folder, error))) return found;
  const OutputFolder own(folder, kForItsEnd);
  RunMark(folder / "state").wait_for_processes(folder);
  found.previous = Previous::discarded;
  const fs::path transcript = folder / kTranscriptName;
  if (beginning_of(transcript) != Beginning::record) return found;
  const RunHistory history = read_run_history(transcript);
  worked = history.worked;
  found.end = cut_off(number, history.used);
  found.used = {history.used.turns, history.used.tool_calls, history.used.tokens,
                history.used.cost};
  if (!history.end) {
    if (has_state(folder)) found.previous = Previous::resumed;
    return found;
  }
  const auto end = read_attempt_end(number, settle_attempt(folder, history));
  if (!end) return found;
  found.end = *end;
  // Its key or its inputs were wrong: that may be mended by now.
  const bool in_vain = end->code == ExitCode::usage || end->code == ExitCode::auth;
  if (!can_go_on(end->code, true) && !in_vain)
    found.previous = Previous::returned;
  else if (has_state(folder) && end->code != ExitCode::conflict)
    found.previous = Previous::resumed;
  return found;
}

/// Once one has passed that ends the others, those that were ended stay as they are: they are not
/// begun again.
void keep_what_is_needless(FoundAttempts& found, Pick pick) {
  const auto ends_others = [&](const FoundAttempt& one) {
    return one.previous == Previous::returned && one.end.passed() &&
           (pick == Pick::first_passing || one.end.status == "nothing-to-do" ||
            one.end.number == found.picked);
  };
  const bool decided = std::any_of(found.attempts.begin(), found.attempts.end(), ends_others);
  for (FoundAttempt& one : found.attempts)
    if (decided && one.previous == Previous::discarded && one.end.has_ended())
      one.previous = Previous::resumed;
}

/// The time in which at least one was at work.
milliseconds time_together(std::vector<WorkedTime> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const WorkedTime& a, const WorkedTime& b) { return a.from < b.from; });
  milliseconds time{0};
  std::chrono::system_clock::time_point until{};
  for (const WorkedTime& span : spans) {
    const auto from = std::max(until, span.from);
    if (span.to > from) time += std::chrono::duration_cast<milliseconds>(span.to - from);
    until = std::max(until, span.to);
  }
  return time;
}

}  // namespace

Json settle_attempt(const fs::path& folder, const RunHistory& history) {
  Json result;
  const TextFile file = read_bytes_file(folder / "result.json", kMostResultBytes);
  try {
    if (file.problem.empty()) result = parse_json(file.text);
  } catch (const JsonError&) {  // torn
  }
  if (!history.end || result.string_at("status", "running") != "running") return result;
  result = result_of_record(history.end->result, history.last_digest);
  // It names the digest of result.json, and comes before it.
  if (result["attestation"].is_string())
    write_file(folder / kAttestationName, attestation_text(folder, result_text(result)),
               new_file_mode());
  write_file(folder / "result.json", result_text(result), new_file_mode());
  return result;
}

FoundAttempts find_attempts(const OutputFolder& out, int count, Pick pick) {
  FoundAttempts found;
  const Json& earlier = out.found().result["best_of"]["lost"];
  found.lost = {earlier.integer_at("turns"), earlier.integer_at("tool_calls"),
                earlier.integer_at("tokens"), Cost::usd(earlier["cost_usd"].real().value_or(0))};
  std::vector<WorkedTime> all;
  std::vector<WorkedTime> kept;
  std::vector<std::pair<std::chrono::system_clock::time_point, AttemptEnd*>> ended;
  found.attempts.resize(static_cast<std::size_t>(count));
  std::vector<std::vector<WorkedTime>> worked(static_cast<std::size_t>(count));
  for (int number = 1; number <= count; ++number) {
    const auto index = static_cast<std::size_t>(number - 1);
    found.attempts[index] =
        find_attempt(number, out.path() / attempt_folder(number), worked[index]);
    found.attempts[index].end.number = number;
  }
  const std::int64_t picked = out.found().result["best_of"].integer_at("picked");
  if (picked > 0 && picked <= count) {
    const FoundAttempt& one = found.attempts[static_cast<std::size_t>(picked - 1)];
    if (one.previous == Previous::returned && one.end.passed()) found.picked = one.end.number;
  }
  keep_what_is_needless(found, pick);
  for (std::size_t i = 0; i < worked.size(); ++i) {
    FoundAttempt& one = found.attempts[i];
    all.insert(all.end(), worked[i].begin(), worked[i].end());
    if (one.previous == Previous::discarded)
      found.lost = found.lost + one.used;
    else
      kept.insert(kept.end(), worked[i].begin(), worked[i].end());
    if (one.previous == Previous::returned && !worked[i].empty())
      ended.emplace_back(worked[i].back().to, &one.end);
  }
  std::stable_sort(ended.begin(), ended.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < ended.size(); ++i) ended[i].second->place = static_cast<int>(i) + 1;
  found.time = time_together(std::move(all)) + milliseconds(earlier.integer_at("time_ms"));
  found.lost_time = found.time - time_together(std::move(kept));
  return found;
}

Json lost_json(const FoundAttempts& found) {
  return Json::object({{"turns", found.lost.turns},
                       {"tool_calls", found.lost.tool_calls},
                       {"tokens", found.lost.tokens},
                       {"cost_usd", Json::number(found.lost.cost.exact())},
                       {"time_ms", static_cast<std::int64_t>(found.lost_time.count())}});
}

}  // namespace sortie
