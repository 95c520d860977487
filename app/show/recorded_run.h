#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "policies/review/learn.h"

namespace sortie {

/// The calls of a run from its transcript, whose chain and blobs are checked first.
/// @param path  a run's output folder, or its transcript
/// @throws Error  ExitCode::usage where there is none; ExitCode::integrity where it is broken
RecordedRun read_recorded_run(const std::string& path);
std::vector<RecordedRun> read_recorded_runs(const std::vector<std::string>& paths);

}  // namespace sortie
