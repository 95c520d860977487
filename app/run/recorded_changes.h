#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace sortie {

/// The changes.diff of a run that has ended, with what is needed to apply it.
struct RecordedChanges {
  std::string text;
  std::map<std::string, std::string> moved_ids{};  ///< as PlanOptions has them
};

/// @param folder     of the run
/// @param workspace  the user's own tree, which it is to be applied to
/// @throws Error  integrity: the transcript has no record of it
RecordedChanges read_recorded_changes(const std::filesystem::path& folder,
                                      const std::filesystem::path& workspace);

}  // namespace sortie
