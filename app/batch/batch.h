#pragma once

#include "app/batch/batch_options.h"
#include "core/base/exit_code.h"

namespace sortie {

/// Runs a batch: each of its runs is a process of its own with a folder of its own, DIR/runs/NAME. What is
/// finished there is returned, what was cut off goes on, so the same command may be given again at any
/// time. Ends with its last line on stderr.
/// @throws Error  nothing was started
ExitCode run_batch(const BatchOptions& options, const OutputStyle& style);

}  // namespace sortie
