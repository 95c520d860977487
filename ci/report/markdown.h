#pragma once

#include <string>
#include <string_view>

#include "ci/report/excerpt.h"

namespace sortie {

// Texts of others as parts of a Markdown document (CommonMark, GitHub Flavored Markdown). Nothing in
// them becomes HTML, a link, an image, a mention, a reference or a heading.

/// A text on one line, as a span of code.
std::string code_span(std::string_view text);
/// A text on one line, as plain words.
std::string plain_words(std::string_view text);
/// A block of code, whose fence is not in the text.
/// @param language  of the block, "" or a word of ours
std::string code_block(std::string_view text, std::string_view language = "text");
/// The same with the bytes that are left out.
std::string code_block(const Excerpt& excerpt);

}  // namespace sortie
