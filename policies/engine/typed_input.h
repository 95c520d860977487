#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// How much of a line that has not ended is kept for the decision on its rest.
constexpr std::size_t kLongestTypedLine = 64u << 10;

/// The end of what was typed that is no whole line yet, so that what follows belongs to it: behind
/// the last newline or carriage return but for those that a backslash takes back. Control-C and
/// control-D end no line here: what was typed before may have stayed with who reads it.
std::string_view unfinished_input(std::string_view typed);

/// What is typed into a terminal, an escape before each character that an editor of lines may take
/// for a key of its own or for a word of its history: tab, bytes beyond ASCII (which it may read as
/// Meta and a letter), `!` and `^`.
std::string with_editor_keys_marked(std::string_view typed);

/// What a program may get of the text that is typed: which it is depends on who reads it.
struct TypedReadings {
  /// Without its control characters; what a terminal makes of it, control-D handing over the line
  /// as it is; the same where control-D ends a line.
  std::vector<std::string> possible;
  /// Those of them that could really come to be.
  std::vector<std::string> likely;
  /// Why these may not be all: "control-A …"; "" where they are.
  std::string problem;
};
TypedReadings read_typed(std::string_view typed);

}  // namespace sortie
