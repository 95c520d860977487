#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/record/file_events.h"

namespace sortie {

/// The diff that a run left, and what was recorded of it.
struct RecordedDiff {
  std::string name;  ///< by the run's last record (diff_names.h); "": it wrote none
  std::optional<DiffWritten>
      record{};  ///< nothing: an earlier version of sortie, or it was redacted
};

/// The diff of the workspace first, then those of submodules; empty: it wrote none.
/// @throws Error  ExitCode::integrity: the transcript or a blob can't be read
std::vector<RecordedDiff> read_recorded_diffs(const std::filesystem::path& transcript);

/// Whether the files of a recorded diff are in a tree as the diff leaves them: kind, whether they are
/// executable, and each byte. What can't be read is not.
/// @param tree    what the paths of a diff are relative to: the repository's toplevel, without a
///                repository the workspace
/// @param to_git  gives what git stores for a file of it: the diff may have that; may be empty
bool is_applied(
    const DiffWritten& diff, const DiskFiles& tree,
    const std::function<std::string(const std::string& path, const std::string& content)>& to_git);

}  // namespace sortie
