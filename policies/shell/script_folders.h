#pragma once

#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "policies/shell/script.h"

namespace sortie {

/// Follows `cd` through a script: in which folders a command may run, by whether those before it
/// may have succeeded or failed. By words: links are not resolved, and a `cd` out of the workspace
/// is the engine's to deny.
class ScriptFolders {
 public:
  /// @param start  absolute
  explicit ScriptFolders(std::string start);

  /// The folders in which the pipeline may run; at least one.
  /// @param pipeline  its commands; the first one's link joins it to what came before
  std::vector<std::string> run(std::span<const SimpleCommand> pipeline);
  /// More than a script that anybody writes can have.
  bool too_many() const { return states_.size() > kMaxStates; }

 private:
  static constexpr std::size_t kMaxStates = 64;
  using State = std::pair<std::string, bool>;  ///< the current folder; the last command succeeded
  std::set<State> states_;
};

/// The folder that `cd` leads to, ".." taken back by words.
std::string folder_behind(const std::string& folder, const std::string& operand);

/// Why a command of a script may change how bash reads or finds what comes behind it, or run
/// something that its words only name: built-ins such as `eval`, `hash`, `export`, `printf -v`.
/// @return "" for one that leaves nothing behind; a `cd` is followed elsewhere
std::string why_changes_shell(std::span<const ScriptWord> words);

/// Whether it may give a program another name: `alias`, `hash`.
bool renames_commands(std::string_view name);

}  // namespace sortie
