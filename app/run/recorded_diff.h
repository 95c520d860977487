#pragma once

#include <filesystem>

#include "core/workspace/diff/diff.h"

namespace sortie {

/// The changes.diff of a finished run, with what is needed to apply it to the tree that it was made
/// for: `text` and `moved_ids`.
/// @param folder     of the run
/// @param workspace  the user's own tree
/// @throws Error  integrity: the transcript does not have it
Diff recorded_diff(const std::filesystem::path& folder, const std::filesystem::path& workspace);

}  // namespace sortie
