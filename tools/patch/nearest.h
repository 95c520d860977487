#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/patch/matcher.h"

namespace sortie::patch {

/// Where lines that were not found most nearly stand, in words for the model: the file's lines
/// N–M and what differs there, or that they stand before `from`, or that nothing is near.
std::string nearest_place(const FileLines& file, const std::vector<std::string_view>& pattern,
                          std::size_t from, const std::string& path);

}  // namespace sortie::patch
