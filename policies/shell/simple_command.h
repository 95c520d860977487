#pragma once

#include <cstddef>
#include <vector>

#include "policies/shell/script_word.h"

namespace sortie {

/// The operator before a command.
enum class ScriptLink { first, and_then, or_else, then, pipe };

struct SimpleCommand {
  ScriptLink link = ScriptLink::first;
  std::vector<ScriptWord> words;  ///< at least one; words[0] is the command's name
  std::vector<ScriptRedirection> redirections;
  std::vector<ScriptAssignment> assignments{};  ///< harmless_variables.h
  /// Which of the script's pipelines, loops, conditions and groups it belongs to, from 0. Commands
  /// of a later one start when those of the earlier ones have ended.
  std::size_t unit = 0;
  bool repeats = false;  ///< in a loop over a glob: it may run more than once
  bool operator==(const SimpleCommand&) const = default;
};

/// How the commands of a script follow each other.
struct ScriptNode {
  enum class Kind {
    command,
    list,      ///< one part after the other, each by its link
    pipeline,  ///< parts side by side, each in a subshell
    subshell,  ///< a list whose folder ends with it
    choice,    ///< condition, list, condition, list …, and a last list for `else`
  };
  Kind kind = Kind::command;
  ScriptLink link = ScriptLink::first;  ///< to the part before it
  bool negated = false;                 ///< behind `!`
  std::size_t command = 0;              ///< Kind::command: its index in `commands`
  std::vector<ScriptNode> parts{};
};

}  // namespace sortie
