#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sortie {

/// What a run's diff, applied to the recorded base, shows.
struct DiffCheck {
  std::string problem;  ///< "" if the recorded end comes out, byte for byte
  /// Lines for people: how many files were proved, and which need more than the record.
  std::vector<std::string> notes;
};

/// Applies the diff in a run's folder to the base that the transcript records, and compares with the
/// recorded end. The contents of the base come from the record, where the base commit lacks them
/// (uncommitted changes, a folder without git), else from the commit in a repository.
/// @param folder      a run's output folder, which verify_run() has checked
/// @param repository  a folder in a clone that has the base commit; "": only the record is used
/// @throws Error  usage: the repository can't be used, or lacks the commit; integrity: the transcript
///                can't be read
DiffCheck check_recorded_diff(const std::filesystem::path& folder,
                              const std::filesystem::path& repository = {});

}  // namespace sortie
