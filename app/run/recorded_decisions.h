#pragma once

#include <string>

#include "core/record/events.h"
#include "policies/review/learn.h"

namespace sortie {

/// Reads the decisions of a run from its transcript, after checking its chain and blobs: for
/// `policy backtest`, `policy learn` and `replay --tools recorded`.
/// @param path  a run's output folder, or its transcript
/// @throws Error  ExitCode::usage: there is none; ExitCode::integrity: it is damaged
RecordedRun read_recorded_run(const std::string& path);

}  // namespace sortie
