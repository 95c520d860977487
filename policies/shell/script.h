#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "policies/shell/script_word.h"

namespace sortie {

/// What stands before a command.
enum class ScriptLink { first, and_then, or_else, then, pipe };

struct SimpleCommand {
  ScriptLink link = ScriptLink::first;
  std::vector<ScriptWord> words;  ///< at least one; words[0] is the command's name
  std::vector<ScriptRedirection> redirections;
  bool operator==(const SimpleCommand&) const = default;
};

struct ScriptReading {
  std::vector<SimpleCommand> commands;  ///< empty where refused
  bool refused = false;
  ScriptRefusal refusal;
};

inline constexpr std::size_t kMaxScriptBytes = 64 << 10;
inline constexpr std::size_t kMaxScriptCommands = 1000;
inline constexpr std::size_t kMaxScriptWords = 10000;

/// Reads a shell script by the strict grammar (policies/shell/GRAMMAR.md), the whole of it. What is
/// read executes, by bash without its start-up files and with its options as they are by default,
/// nothing but the commands listed, each with exactly the words listed, those with `glob` aside,
/// which may become the names of files that match. All else is refused. Linear in the text.
ScriptReading read_script(std::string_view script);

/// Whether bash has the word as a reserved one where a command's name stands.
bool is_reserved_word(std::string_view word);

}  // namespace sortie
