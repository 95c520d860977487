#pragma once

#include "app/inputs/options.h"
#include "core/base/exit_code.h"

namespace sortie {

class EarlyKeeper;

/// `sortie run`: one task from its files to its artifacts. Does not throw once the run has begun: the
/// last line on stderr and result.json give its outcome.
/// @param early_keeper  for the run, if there is only one; null: the run forks its own
ExitCode run_task(const RunOptions& options, const OutputStyle& style,
                  EarlyKeeper* early_keeper = nullptr);

}  // namespace sortie
