#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// How much of an unfinished line is kept for the decision on its rest.
constexpr std::size_t kLongestTypedLine = 64u << 10;

/// The unfinished last line of typed input: the text after the last newline or carriage return that
/// no backslash escapes. Control-C and control-D end no line here: the reader may have kept what
/// was typed before them.
std::string_view unfinished_input(std::string_view typed);

/// The keys for a terminal, with an escape before each character that a line editor may take for a
/// command or a history reference: tab, bytes beyond ASCII (which it may read as Meta and a
/// letter), `!` and `^`.
std::string with_editor_keys_marked(std::string_view typed);

/// The texts that a program may receive for typed input, depending on how it reads its input.
struct TypedReadings {
  /// The text without control characters; the text as a terminal edits it, where control-D sends
  /// the line so far; the same where control-D ends a line.
  std::vector<std::string> possible;
  /// Those of `possible` that a real program could receive.
  std::vector<std::string> likely;
  /// Why there may be other readings ("control-A …"), or "".
  std::string problem;
};
TypedReadings read_typed(std::string_view typed);

}  // namespace sortie
