#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "policies/shell/script.h"

namespace sortie {

/// For each command of a script, the folders in which it may run, depending on which commands
/// before it succeeded or failed. Links are not resolved; the engine denies a `cd` out of the
/// workspace.
struct ScriptFolders {
  std::vector<std::set<std::string>> folders;  ///< by command; at least one each
  bool too_many = false;  ///< more states than a sensible script has: the rest is not listed
};
/// @param start  absolute
ScriptFolders follow_folders(const ScriptReading& reading, const std::string& start);

/// The folder that `cd` leads to, ".." resolved as text.
std::string folder_behind(const std::string& folder, const std::string& operand);

/// Whether it is `set -euo pipefail` or the like, `export NAME=VALUE` of a harmless variable, `exit`
/// or `:`. They change only whether and how the rest of the script runs.
bool is_shell_setting(std::span<const ScriptWord> words);

/// Why a command of a script may change how bash reads or finds later commands, or may evaluate its
/// arguments: built-ins such as `eval`, `hash`, `export`, `printf -v`.
/// @return "" if it has no such effect; `cd` is followed by ScriptFolders
std::string why_changes_shell(std::span<const ScriptWord> words);

/// Whether the command may give a program another name: `alias`, `hash`.
bool renames_commands(std::string_view name);

}  // namespace sortie
