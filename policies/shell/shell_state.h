#pragma once

#include <span>
#include <string>

#include "policies/shell/script.h"

namespace sortie {

/// Why a command of a script may change how bash reads or finds what comes behind it, or run
/// something that its words only name: built-ins such as `eval`, `hash`, `export`, `printf -v`.
/// @return "" for one that leaves nothing behind; a `cd` is followed elsewhere
std::string why_changes_shell(std::span<const ScriptWord> words);

/// Whether it may give a program another name: `alias`, `hash`.
bool renames_commands(std::string_view name);

}  // namespace sortie
