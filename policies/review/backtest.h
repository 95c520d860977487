#pragma once

#include <string>
#include <vector>

#include "policies/review/learn.h"
#include "policies/rules/decision.h"

namespace sortie {

/// The decisions of a policy on recorded runs, compared with the recorded ones.
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
  int newly_asked = 0;  ///< allowed then; now the approver would decide
  int otherwise = 0;    ///< deny became forbid, or the other way round
  std::vector<Change> changes;

  /// The changes, and a line of totals, for people.
  std::string text() const;
};

/// Pure, except that the engine reads lookup folders. The runs must outlive the result.
Backtest backtest(const Policy& policy, const std::vector<RecordedRun>& runs);

}  // namespace sortie
