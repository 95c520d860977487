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
/// listed, each with exactly the words listed, except for words with `glob`: such a word becomes
/// the names of matching files, or stays as it is where there are none, and a kNumberMark in it
/// becomes digits or nothing. A loop's commands are listed once for each of its words; a glob among
/// these stands in place of the variable, and may become there, apart from other globs of the same
/// word, one name or itself. All other scripts are refused. Linear in the text and what it lists.
ScriptReading read_script(std::string_view script);

/// Whether the word is reserved in bash in place of a command's name.
bool is_reserved_word(std::string_view word);

}  // namespace sortie
