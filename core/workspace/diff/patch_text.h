#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/workspace/diff/diff.h"

namespace sortie {

/// A diff as text, with a summary of each file.
struct PatchText {
  DiffText text;
  std::vector<DiffFile> files;  ///< sorted by path; a type change has one entry but two patches
};

/// The changes from one side to the other in git's extended unified format. Pure: no disk, no
/// repository, no configuration; the same sides give the same bytes.
///
/// Renames are detected like in git: first equal files; then, if there are many, files whose paths
/// end alike; then all remaining pairs, unless there are too many. The first two steps are linear
/// in the number of files, the last is quadratic.
/// @param most_pairs  git's own limit: diff.renameLimit 1000 on each side
/// @param scratch     as in DiffOptions
PatchText make_patch(const TouchedFiles& before, const TouchedFiles& after, int context_lines,
                     bool renames, const CancelCheck& check_cancel = {},
                     std::size_t most_pairs = 1'000'000, const std::filesystem::path& scratch = {});

}  // namespace sortie
