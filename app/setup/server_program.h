#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// What of a workspace's changes a program could be, or load, that is started again there: the path
/// that says most to people, or "" where none of them.
///
/// Of an installed program only what its words name, with or without a suffix, or lead to by links.
/// One that lies in the workspace, and one that runs others (shells, interpreters, package
/// runners), may load anything there, unless its first argument is what it runs, and lies
/// elsewhere.
///
/// @param workspace  absolute; the program's working folder
/// @param view       the tree as it is now
std::string changed_under(const std::vector<std::string>& argv,
                          const std::filesystem::path& workspace,
                          const std::vector<ChangedPath>& changed, const Files& view);

}  // namespace sortie
