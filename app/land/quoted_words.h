#pragma once

#include <string>
#include <string_view>

namespace sortie {

/// A model's words for places that act on words: commit messages, pull requests, logs. What stays
/// is text that a person reads as it was meant:
///
///  - UTF-8 without control characters, escape sequences and characters that reverse the text
///  - nothing that a CI system takes for a command, or for the wish not to run ("[skip ci]")
///  - no mention of a person ("@name"), and no reference that closes or links an issue ("#12"):
///    an invisible character (U+200B) follows the sign
///  - no line that git takes for the end of a message, a header or the begin of a patch ("---",
///    "diff --git", "From: "), and no trailer ("Signed-off-by: "): a blank comes before it
///
/// @param most  bytes; the rest is replaced by " …"
std::string quoted_words(std::string_view text, std::size_t most);

/// The same as Markdown that shows the text as it is: a block of code with a fence that is not in it.
std::string fenced(const std::string& words);

}  // namespace sortie
