#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "policies/shell/script_word.h"

namespace sortie {

/// The operator before a command.
enum class ScriptLink { first, and_then, or_else, then, pipe };

struct SimpleCommand {
  ScriptLink link = ScriptLink::first;
  std::vector<ScriptWord> words;  ///< at least one; words[0] is the command's name
  std::vector<ScriptRedirection> redirections;
  bool operator==(const SimpleCommand&) const = default;
};

struct ScriptReading {
  std::vector<SimpleCommand> commands;  ///< empty if refused
  bool refused = false;
  ScriptRefusal refusal;
};

inline constexpr std::size_t kMaxScriptBytes = 64 << 10;
inline constexpr std::size_t kMaxScriptCommands = 1000;
inline constexpr std::size_t kMaxScriptWords = 10000;

/// Reads a whole shell script by the strict grammar (policies/shell/GRAMMAR.md). An accepted
/// script, run by bash without start-up files and with default options, executes only the commands
/// listed, each with exactly the words listed, except that words with `glob` may expand to the
/// names of matching files. All other scripts are refused. Linear in the text.
ScriptReading read_script(std::string_view script);

/// Whether the word is reserved in bash in place of a command's name.
bool is_reserved_word(std::string_view word);

}  // namespace sortie
