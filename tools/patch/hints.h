#pragma once

#include <string>
#include <string_view>

#include "tools/patch/matcher.h"

namespace sortie::patch {

// Hints for the model about a patch that can't be read or applied, to append to the error; "" for
// none.

/// For a line that is not a valid header.
std::string header_hint(std::string_view line);
/// For a patch whose first line is not '*** Begin Patch'.
std::string begin_hint(std::string_view first);
/// For a patch whose last line is not '*** End Patch'.
std::string end_hint(std::string_view last);
/// For an anchor that is not a line of the file: names the first line that contains it, from `from`
/// on, then before it.
std::string anchor_hint(const FileLines& file, std::string_view anchor, std::size_t from);
/// For lines that were not found: whether line numbers were copied with them.
std::string lines_hint(const std::vector<std::string_view>& pattern);

}  // namespace sortie::patch
