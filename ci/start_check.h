#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/record/run_events.h"

namespace sortie {

/// What a run has recorded of its workspace at the start (workspace.state); nothing: it has not.
/// @throws Error  integrity: the transcript or a blob can't be read
std::optional<StartChanges> read_start_changes(const std::filesystem::path& transcript);

/// Checks that the record is one, and that its digest is that of its list. A list that is not recorded
/// has no proof here.
/// @return  "" or what is wrong with it
std::string start_changes_mismatch(const std::filesystem::path& transcript);

}  // namespace sortie
