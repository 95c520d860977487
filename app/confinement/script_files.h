#pragma once

#include <filesystem>

#include "core/files/files.h"
#include "policies/rules/script_rule.h"

namespace sortie {

/// Tells script rules whether a file is as it was at the start of the run: a regular file, at the
/// place where the same path led then, with the same bytes and mode. Compared anew each time.
///
/// @param start      the tree as it was; both outlive the function
/// @param view       the tree as the run has it now
/// @param workspace  absolute, as commands name it
ScriptFiles script_files(const Files& start, const Files& view, std::filesystem::path workspace);

}  // namespace sortie
