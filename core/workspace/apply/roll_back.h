#pragma once

#include <string>
#include <vector>

#include "core/workspace/apply/apply_folder.h"

namespace sortie {

/// Puts every path of a journal back as it was, whatever was done of it so far; may be cut off and
/// done again. A new file that somebody has edited since, and a path where something else is by now,
/// are left alone.
/// @return  a text for each path that is not as it was: "a.c: somebody has changed it since"
std::vector<std::string> roll_back(int root, int folder, const std::vector<JournalChange>& changes);

}  // namespace sortie
