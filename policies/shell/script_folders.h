#pragma once

#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "policies/shell/script.h"

namespace sortie {

/// Follows `cd` through a script: the folders in which a command may run, depending on which
/// commands before it succeeded or failed. Links are not resolved; the engine denies a `cd` out of
/// the workspace.
class ScriptFolders {
 public:
  /// @param start  absolute
  explicit ScriptFolders(std::string start);

  /// The folders in which the pipeline may run; at least one.
  /// @param pipeline  its commands; the first one's link joins it to what came before
  std::vector<std::string> run(std::span<const SimpleCommand> pipeline);
  /// Whether there are more states than a sensible script has.
  bool too_many() const { return states_.size() > kMaxStates; }

 private:
  static constexpr std::size_t kMaxStates = 64;
  using State = std::pair<std::string, bool>;  ///< the current folder; the last command succeeded
  std::set<State> states_;
};

/// The folder that `cd` leads to, ".." resolved as text.
std::string folder_behind(const std::string& folder, const std::string& operand);

/// Why a command of a script may change how bash reads or finds later commands, or may evaluate its
/// arguments: built-ins such as `eval`, `hash`, `export`, `printf -v`.
/// @return "" if it has no such effect; `cd` is followed by ScriptFolders
std::string why_changes_shell(std::span<const ScriptWord> words);

/// Whether the command may give a program another name: `alias`, `hash`.
bool renames_commands(std::string_view name);

}  // namespace sortie
