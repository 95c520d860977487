#pragma once

#include <string>
#include <vector>

#include "policies/review/learn.h"
#include "policies/rules/decision.h"

namespace sortie {

/// What a policy would have decided in recorded runs, beside what was decided then.
struct Backtest {
  struct Change {
    std::string run;  ///< its name
    const RecordedCall* call = nullptr;
    Decision now;
    bool asks = false;  ///< the policy's approver would be asked
  };
  int runs = 0;
  int calls = 0;
  int newly_allowed = 0;
  int newly_denied = 0;
  int newly_asked = 0;  ///< allowed then; now its approver would decide
  int otherwise = 0;    ///< deny became forbid, or the other way round
  std::vector<Change> changes;

  /// The changes, and a line with the numbers, for people.
  std::string text() const;
};

/// Pure but for the engine's look at lookup folders. The runs must outlive the result.
Backtest backtest(const Policy& policy, const std::vector<RecordedRun>& runs);

}  // namespace sortie
