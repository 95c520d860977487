#pragma once

#include <filesystem>

#include "core/workspace/start_keeping.h"
#include "core/workspace/start_record.h"

namespace sortie {

/// Begins the names of the run's files among the kept copies of the start (OwnTreeAside).
inline constexpr const char* kRunsCopy = "run-";
/// The list of the tree as the run has it, as long as it is put aside.
std::filesystem::path aside_list(const StartPlace& place);
void remove_runs_copies(const StartPlace& place);

/// Ends what a killed process left of one; does nothing without it.
/// @param state  the run's state folder
/// @throws Error  ExitCode::environment
void end_aside(const std::filesystem::path& state, const StartRecord& record);

}  // namespace sortie
