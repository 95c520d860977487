#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "tools/patch/parser.h"

namespace sortie::patch {

/// The content of a file after an update. Matched lines keep their bytes and line ends; new lines
/// get the file's first line end; the last line gets a line end.
/// @throws ToolError  names the chunk whose lines were not found, and the nearest place; or on a
///                    stop
std::string update_content(std::string_view content, const Hunk& hunk, const std::stop_token& stop);

[[noreturn]] void throw_stopped();

}  // namespace sortie::patch
