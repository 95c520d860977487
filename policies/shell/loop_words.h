#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "policies/shell/simple_command.h"

namespace sortie {

/// Loops in each other whose variables are known.
inline constexpr std::size_t kMaxLoops = 4;

/// A part of a script while it is read.
struct ScriptTree {
  ScriptNode::Kind kind = ScriptNode::Kind::command;
  ScriptLink link = ScriptLink::first;
  bool negated = false;
  SimpleCommand command{};
  std::vector<ScriptTree> parts{};
};

struct ScriptSize {
  std::size_t commands = 0;
  std::size_t bytes = 0;  ///< roughly, in memory
};
ScriptSize size_of(const ScriptTree& tree);

/// Marks the commands of a loop over a glob, which runs them as often as there are names.
/// @return false if one of them changes the folder: where the loop ends is then not known
bool mark_repeated(ScriptTree& tree);

/// Puts a loop's word in place of its variable, everywhere in the loop. Without quotes the shell
/// would split and expand the value, so it must then have only plain characters.
/// @param number  the variable's: of the loops around it
/// @param room    bytes that the loop may still grow by, which is counted down
/// @return the place of a word where it may not stand, or nothing
std::optional<std::size_t> set_loop_variable(ScriptTree& tree, std::size_t number,
                                             const ScriptWord& value, std::size_t& room);

}  // namespace sortie
