#pragma once

#include <functional>

#include "app/inputs/options.h"
#include "core/base/exit_code.h"

namespace sortie {

class EarlyKeeper;

/// Runs, and then tells the outcome to the one that started it, also where nothing was started:
/// --status-file, and in a step of GitHub Actions its outputs and its summary.
/// @param options  read again at the end: `run` may set --out and the thread
/// @param run      called with the keeper for run_task(), or null; its exceptions are told and thrown
///                 on
/// @throws InputError  --status-file can't be used; nothing was run
ExitCode tell_outcome(const RunOptions& options, const OutputStyle& style,
                      const std::function<ExitCode(EarlyKeeper*)>& run);

/// run_task() with its outcome told.
ExitCode run_and_tell(const RunOptions& options, const OutputStyle& style);

}  // namespace sortie
