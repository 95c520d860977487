#pragma once

#include "app/inputs/options.h"
#include "core/base/exit_code.h"

namespace sortie {

/// `sortie run`: one task from its files to its artifacts. Does not throw once the run has begun: the
/// last line on stderr and result.json give its outcome.
ExitCode run_task(const RunOptions& options, const OutputStyle& style);

}  // namespace sortie
