#pragma once

#include <string>

namespace sortie {

/// The name of the folder of ApplyFolder, in the root of the tree that is written to: on its file system, so that
/// files go in and out by rename(2), and where every later start on this tree finds it.
inline constexpr const char* kApplyFolder = ".sortie-apply";

/// Why git would not have a path in a tree, or why it would be dangerous there; "" if neither:
/// absolute paths, "..", `.git` in any spelling that some file system takes for it, the folder of
/// ApplyFolder.
std::string path_problem(const std::string& path);

}  // namespace sortie
