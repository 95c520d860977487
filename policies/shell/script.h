#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// A word of a script, its quotes resolved.
struct ScriptWord {
  std::string text;
  bool glob = false;   ///< holds a bare *, ? or [ that the shell would expand
  std::size_t at = 0;  ///< byte of the script, from 0
};

/// `2>&1`, `>/dev/null`, `<file`: nothing else is read.
struct ScriptRedirection {
  enum class Kind { duplicate, output_to_null, input };
  Kind kind = Kind::duplicate;
  int descriptor = 1;  ///< the left side
  int target = 1;      ///< of a duplicate: 1 or 2
  std::string file;    ///< of an input
  std::size_t at = 0;
};

/// What stands before a command.
enum class ScriptLink { first, and_then, or_else, then, pipe };

struct SimpleCommand {
  ScriptLink link = ScriptLink::first;
  std::vector<ScriptWord> words;  ///< at least one; words[0] is the command's name
  std::vector<ScriptRedirection> redirections;
};

/// Why a script is not of the grammar.
struct ScriptRefusal {
  std::size_t at = 0;  ///< byte, from 0
  std::string part;    ///< what stands there, short and printable
  std::string reason;  ///< in words
};

struct ScriptReading {
  std::vector<SimpleCommand> commands;  ///< empty where refused
  bool refused = false;
  ScriptRefusal refusal;
};

/// Reads a shell script by the strict grammar (policies/shell/GRAMMAR.md), the whole of it: what
/// is read means the same to bash, dash and zsh started without their start-up files, and all else
/// is refused. Linear in the text.
ScriptReading read_script(std::string_view script);

}  // namespace sortie
