#pragma once

#include <string>

#include "core/files/journal_name.h"

namespace sortie {

/// Why git would not have a path in a tree, or why it would be dangerous there; "" if neither:
/// absolute paths, "..", `.git` in any spelling that some file system takes for it, the folder of
/// ApplyFolder.
std::string path_problem(const std::string& path);

}  // namespace sortie
