#pragma once

#include <string>
#include <string_view>

#include "tools/patch/matcher.h"

namespace sortie::patch {

// What was probably meant where a patch can't be read or applied, for the model: a sentence with a
// blank before it, or "" where nothing is to be guessed.

/// Of a line that stands where a header is expected, or that looks like one.
std::string header_hint(std::string_view line);
/// Of a text whose first line is not '*** Begin Patch'.
std::string begin_hint(std::string_view first);
/// Of a text whose last line is not '*** End Patch'.
std::string end_hint(std::string_view last);
/// Of an anchor that is no line of the file: the first line from `from` on, then before it, that
/// has it as a part.
std::string anchor_hint(const FileLines& file, std::string_view anchor, std::size_t from);
/// Of lines that were not found: whether numbers were copied with them.
std::string lines_hint(const std::vector<std::string_view>& pattern);

}  // namespace sortie::patch
