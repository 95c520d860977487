#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// A word of a script, its quotes resolved.
struct ScriptWord {
  std::string text;
  bool glob = false;   ///< holds a bare *, ? or [ that the shell may expand
  bool bare = true;    ///< no part of it is quoted
  std::size_t at = 0;  ///< byte of the script, from 0
  bool operator==(const ScriptWord&) const = default;
};

/// `2>&1`, `>/dev/null`, `<file`: nothing else is read.
struct ScriptRedirection {
  enum class Kind { duplicate, output_to_null, both_to_null, input };
  Kind kind = Kind::duplicate;
  int descriptor = 1;  ///< the left side
  int target = 1;      ///< of a duplicate: 1 or 2
  std::string file;    ///< of an input
  std::size_t at = 0;
  bool operator==(const ScriptRedirection&) const = default;
};

/// What stands before a command.
enum class ScriptLink { first, and_then, or_else, then, pipe };

struct SimpleCommand {
  ScriptLink link = ScriptLink::first;
  std::vector<ScriptWord> words;  ///< at least one; words[0] is the command's name
  std::vector<ScriptRedirection> redirections;
  bool operator==(const SimpleCommand&) const = default;
};

/// Why a script is not of the grammar.
struct ScriptRefusal {
  std::size_t at = 0;  ///< byte, from 0
  int line = 1;        ///< from 1
  int column = 1;      ///< in bytes, from 1
  std::string part;    ///< what stands there, short and printable
  std::string reason;  ///< in words
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
