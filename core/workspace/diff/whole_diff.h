#pragma once

#include <string>
#include <vector>

#include "core/workspace/diff/diff.h"

namespace sortie {

// A diff together with those of its submodules.

/// Puts a submodule's diff into that of the workspace: its lists and effect go over with the paths of
/// the workspace, and it becomes one of Diff::submodules unless it is empty.
void add_submodule(Diff& whole, Diff part);

/// Its files and those of its submodules, with the paths of the workspace.
std::vector<DiffFile> all_files(const Diff& diff);

/// Whether it changes nothing, in submodules neither.
bool is_empty(const Diff& diff);

/// "libs/a/" for the diff of a submodule, else "": what the workspace puts before its paths.
std::string within(const Diff& diff);

}  // namespace sortie
