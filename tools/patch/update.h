#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "tools/patch/matcher.h"
#include "tools/patch/parser.h"

namespace sortie::patch {

/// Where lines that were not found most nearly stand, in words for the model: the file's lines
/// N–M and what differs there, or that they stand before `from`, or that nothing is near.
std::string nearest_place(const FileLines& file, const std::vector<std::string_view>& pattern,
                          std::size_t from, const std::string& path);

/// The content of a file after the chunks of an update. What matched keeps its bytes and line
/// ends; new lines take the file's first line end; the last line is ended.
/// @throws ToolError  with the chunk whose lines were not found, and the nearest place; where it
///                    was stopped
std::string update_content(std::string_view content, const Hunk& hunk, const std::stop_token& stop);

[[noreturn]] void throw_stopped();

}  // namespace sortie::patch
