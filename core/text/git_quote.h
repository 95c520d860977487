#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sortie {

/// A path as git writes it in a line: in double quotes, with C's escapes, if it contains a control
/// byte, a quote, a backslash or a byte that is not ASCII; else unchanged.
///
/// Source: git, quote.c.
std::string git_quoted(std::string_view path);

/// The same with `core.quotePath = false`: UTF-8 stays as it is, for readers, but for characters that
/// direct a terminal or the text around them (one_line() of core/text/text.h replaces them).
std::string git_quoted_for_reading(std::string_view path);

/// Takes a name in quotes off the front of a text: of both forms. Nothing, and the text as it was, if
/// it is no such name.
std::optional<std::string> take_git_quoted(std::string_view& text);

/// The name that one of the two functions above has put in quotes; nothing for any other text.
std::optional<std::string> git_unquoted(std::string_view quoted);

}  // namespace sortie
