#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/workspace/diff/diff.h"

namespace sortie {

/// A diff as text, and what it says of each file.
struct PatchText {
  std::string text;
  std::vector<DiffFile> files;  ///< sorted by path; one entry where a type change has two patches
};

/// git's extended unified format for the way from one side to the other. Pure: no disk, no
/// repository, no configuration; the same sides give the same bytes.
///
/// Renames are told as git tells them: whole files first, by their content; then, where there are
/// many, those whose paths end alike; and all that is left is compared with each other, if that are
/// no more than so many pairs. The cost of the first two grows with the files, of the last with
/// their square.
/// @param most_pairs  git's own limit: diff.renameLimit 1000 on each side
PatchText make_patch(const TouchedFiles& before, const TouchedFiles& after, int context_lines,
                     bool renames, const CancelCheck& pace = {},
                     std::size_t most_pairs = 1'000'000);

/// Reads the text again and applies it to `before`, patch by patch.
/// @return  "" when that gives exactly `after`, else what differs
std::string check_patch(const std::string& text, const TouchedFiles& before,
                        const TouchedFiles& after, const CancelCheck& pace = {});

}  // namespace sortie
