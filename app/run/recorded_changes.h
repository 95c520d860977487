#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/record/file_events.h"

namespace sortie {

/// A diff of a run that has ended, with what is needed to apply it.
struct RecordedChanges {
  std::string submodule;  ///< that it is of; "": of none
  std::string text;
  std::map<std::string, std::string> moved_ids{};  ///< as PlanOptions has them
};

/// changes.diff first, then those of submodules.
/// @param folder     of the run
/// @param workspace  the user's own tree, which it is to be applied to
/// @throws Error  integrity: the transcript has no record of it
std::vector<RecordedChanges> read_recorded_changes(const std::filesystem::path& folder,
                                                   const std::filesystem::path& workspace);

/// Whether a workspace has all that a recorded diff leads to, as it is or as git stores it.
bool is_in_tree(const std::filesystem::path& workspace, const DiffWritten& diff);

}  // namespace sortie
