#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/workspace/diff.h"

namespace sortie {

/// The touched files of a tree, by path.
using TouchedFiles = std::map<std::string, TreeEntry>;

/// A diff as text, and what it says of each file.
struct PatchText {
  std::string text;
  std::vector<DiffFile> files;  ///< sorted by path; one entry where a type change has two patches
};

/// git's extended unified format for the way from one side to the other. Pure: no disk, no
/// repository, no configuration; the same sides give the same bytes.
PatchText make_patch(const TouchedFiles& before, const TouchedFiles& after, int context_lines,
                     bool renames, const Pace& pace = {});

/// Reads the text again and applies it to `before`, patch by patch.
/// @return  "" when that gives exactly `after`, else what differs
std::string check_patch(const std::string& text, const TouchedFiles& before,
                        const TouchedFiles& after);

}  // namespace sortie
