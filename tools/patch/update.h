#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "tools/patch/hunk.h"

namespace sortie::patch {

/// The content of a file after the chunks of an update. What matched keeps its bytes and line
/// ends; new lines take the file's first line end; the last line is ended.
/// @throws ToolError  with the chunk whose lines were not found, and the nearest place; where it
///                    was stopped
std::string update_content(std::string_view content, const Hunk& hunk, const std::stop_token& stop);

[[noreturn]] void throw_stopped();

}  // namespace sortie::patch
