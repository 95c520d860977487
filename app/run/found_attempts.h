#pragma once

#include <chrono>
#include <filesystem>
#include <vector>

#include "app/artifacts/output_folder.h"
#include "ci/attempts.h"
#include "core/agent/shared_budget.h"
#include "core/json/json.h"
#include "core/record/run_history.h"
#include "core/task/task.h"

namespace sortie {

/// What earlier processes left of one attempt.
struct FoundAttempt {
  /// returned: it has ended for good; resumed: it goes on, unless it is not needed any more;
  /// discarded: it begins again, since what it did is lost, or it could do nothing; nothing: it never
  /// began.
  Previous previous = Previous::nothing;
  AttemptEnd end{};  ///< how far it came; killed if it has no end of its own
  /// Of the budget. A request without a response counts no turn: it is sent again.
  SharedBudget::Use used{};
};

/// What they left of all attempts of a run.
struct FoundAttempts {
  std::vector<FoundAttempt> attempts{};  ///< by number, from the first
  SharedBudget::Use lost{};  ///< by those that begin again, now or earlier: it stays used
  int picked = 0;  ///< the one that was picked and has passed: only its handover is left; 0: none
  std::chrono::milliseconds time{0};       ///< in which any of them was at work
  std::chrono::milliseconds lost_time{0};  ///< of that, what the records here do not show
};

/// Looks what the attempts of a run have left that is resumed, once their processes are gone.
/// @param out   --out of all of them; its result says what was lost earlier
/// @param pick  which one is picked: none is begun again that is not needed any more
/// @throws Error  busy: a process of one of them is still at work; integrity: a transcript was
///                changed; usage: files that no run wrote
FoundAttempts find_attempts(const OutputFolder& out, int count, Pick pick);

/// Writes what the transcript of an attempt says of its end into its result.json, where it was killed
/// between the two.
/// @return  result.json as it is then; null: it has none
Json settle_attempt(const std::filesystem::path& folder, const RunHistory& history);

/// As result.json has it while the attempts run: {"turns", "tool_calls", "tokens", "cost_usd",
/// "time_ms"}.
Json lost_json(const FoundAttempts& found);

}  // namespace sortie
