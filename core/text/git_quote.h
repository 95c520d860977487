#pragma once

#include <string>
#include <string_view>

namespace sortie {

/// A path as git writes it in a line: in double quotes, with C's escapes, if it contains a control
/// byte, a quote, a backslash or a byte that is not ASCII; else unchanged.
///
/// Source: git, quote.c.
std::string git_quoted(std::string_view path);

/// The same with `core.quotePath = false`: UTF-8 stays as it is, for readers.
std::string git_quoted_for_reading(std::string_view path);

}  // namespace sortie
