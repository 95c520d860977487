#pragma once

#include <cstddef>
#include <string>

namespace sortie {

/// In a word's text: digits, or nothing, that only the running script knows (`$?`, `$(nproc)`). A
/// word with it counts as a glob.
inline constexpr char kNumberMark = '\x02';
/// Before the number of a loop's variable, within double quotes and outside; only while the loop is
/// read (script.cpp).
inline constexpr char kQuotedVariable = '\x05';
inline constexpr char kBareVariable = '\x06';

/// A word of a script, its quotes resolved.
struct ScriptWord {
  std::string text;
  bool glob = false;     ///< the shell may expand it: an unquoted *, ? or [, or a kNumberMark
  bool bare = true;      ///< no part of it is quoted
  std::size_t at = 0;    ///< byte of the script, from 0
  bool assigns = false;  ///< begins with an unquoted NAME=
  /// An unquoted `$(nproc)` and nothing else: without that program there is no word.
  bool may_vanish = false;
  bool operator==(const ScriptWord&) const = default;
};

/// `2>&1`, `>/dev/null`, `<file`, `<<'END'`, `<<<text`: no others are supported.
struct ScriptRedirection {
  enum class Kind { duplicate, output_to_null, both_to_null, input, text };
  Kind kind = Kind::duplicate;
  int descriptor = 1;  ///< the left side
  int target = 1;      ///< for Kind::duplicate: 1 or 2
  std::string file;    ///< for Kind::input; for Kind::text the text
  std::size_t at = 0;
  bool operator==(const ScriptRedirection&) const = default;
};

/// `NAME=VALUE` before a command's name.
struct ScriptAssignment {
  std::string name;
  std::string value;
  bool operator==(const ScriptAssignment&) const = default;
};

/// Why a script is outside the grammar.
struct ScriptRefusal {
  std::size_t at = 0;  ///< byte, from 0
  int line = 1;        ///< from 1
  int column = 1;      ///< in bytes, from 1
  std::string part;    ///< the text there, short and printable
  std::string reason;  ///< for people and the model
};

}  // namespace sortie
