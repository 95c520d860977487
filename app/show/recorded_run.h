#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "policies/review/learn.h"

namespace sortie {

/// Reads the calls of a run from its transcript, after checking its chain and blobs.
/// @param path  a run's output folder, or its transcript
/// @throws Error  ExitCode::usage: there is none; ExitCode::integrity: it is damaged
RecordedRun read_recorded_run(const std::string& path);
std::vector<RecordedRun> read_recorded_runs(const std::vector<std::string>& paths);

}  // namespace sortie
