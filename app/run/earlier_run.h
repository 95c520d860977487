#pragma once

#include <filesystem>
#include <vector>

#include "ci/tally.h"
#include "core/record/events.h"
#include "core/record/run_history.h"

namespace sortie {

/// What an earlier process of a run has recorded, read in one pass.
struct EarlierRun {
  RunHistory history;
  Tally tally;
  std::vector<RunEvent> changes;  ///< each a FileChange
};

/// @throws Error  integrity: the transcript was changed
EarlierRun read_earlier_run(const std::filesystem::path& transcript);

}  // namespace sortie
