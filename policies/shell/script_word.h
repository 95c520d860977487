#pragma once

#include <cstddef>
#include <string>

namespace sortie {

/// A word of a script, its quotes resolved.
struct ScriptWord {
  std::string text;
  bool glob = false;   ///< has an unquoted *, ? or [ that the shell may expand
  bool bare = true;    ///< no part of it is quoted
  std::size_t at = 0;  ///< byte of the script, from 0
  bool operator==(const ScriptWord&) const = default;
};

/// `2>&1`, `>/dev/null`, `<file`: no others are supported.
struct ScriptRedirection {
  enum class Kind { duplicate, output_to_null, both_to_null, input };
  Kind kind = Kind::duplicate;
  int descriptor = 1;  ///< the left side
  int target = 1;      ///< for Kind::duplicate: 1 or 2
  std::string file;    ///< for Kind::input
  std::size_t at = 0;
  bool operator==(const ScriptRedirection&) const = default;
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
