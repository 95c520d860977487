#pragma once

#include "app/inputs/options.h"
#include "core/base/exit_code.h"

namespace sortie {

/// `sortie run`: one task from its files to its artifacts. Never throws for what a run can end
/// with; the last line on stderr and result.json say what that was.
ExitCode run_task(const RunOptions& options, const OutputStyle& style);

}  // namespace sortie
