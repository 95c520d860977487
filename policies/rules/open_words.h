#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// In a word's text, besides kNumberMark and globs: what a program puts there (find -exec, xargs).
/// Such a word counts as a glob.
inline constexpr char kPathMark = '\x03';  ///< characters of a path, without a part ".."
inline constexpr char kAnyMark = '\x04';   ///< anything, also an option

/// The words as the class `read-only` reads them: numbers as "1", what is open as a glob. What
/// follows a `--` that can't be a value is no option.
std::vector<std::string> with_globs_for_marks(std::span<const std::string> argv);

/// The text for people: "$?" as "N", names that a program puts there as "{}".
std::string shown_word(std::string_view word);
std::vector<std::string> shown_words(std::span<const std::string> argv);

/// Whether a word with a glob or marks may become one that the glob of a rule matches. Errs towards
/// true.
/// @param word  as bash expands it: `*`, `?` and sets match no "/" and no "." that begins a name
/// @param glob  a word_glob (core/text/pattern.h)
bool may_become(std::string_view word, std::string_view glob);

}  // namespace sortie
