#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "policies/shell/simple_command.h"

namespace sortie {

struct ScriptReading {
  std::vector<SimpleCommand> commands;  ///< in the order of the script; empty if refused
  ScriptNode root{.kind = ScriptNode::Kind::list};
  bool refused = false;
  ScriptRefusal refusal;
};

inline constexpr std::size_t kMaxScriptBytes = 64 << 10;
inline constexpr std::size_t kMaxScriptCommands = 1000;
inline constexpr std::size_t kMaxScriptWords = 10000;
inline constexpr int kMaxScriptDepth = 8;

/// Reads a whole shell script by the strict grammar (policies/shell/GRAMMAR.md). An accepted
/// script, run by bash without start-up files and with default options, executes only the commands
/// listed, each with exactly the words listed, except that words with `glob` may expand to the
/// names of matching files or to a number. A loop's commands are listed once for each of its words.
/// All other scripts are refused. Linear in the text and what it lists.
ScriptReading read_script(std::string_view script);

/// Whether the word is reserved in bash in place of a command's name.
bool is_reserved_word(std::string_view word);

}  // namespace sortie
