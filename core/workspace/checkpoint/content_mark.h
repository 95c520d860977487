#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/files/files.h"

namespace sortie {

/// What a path holds: "" for nothing, else its kind with a digest of its content; of a file that is
/// too large to be read, with its size.
std::string content_mark(const Files& files, const std::string& path);

/// A path as text that JSON can hold, whatever its bytes, and back.
std::string json_name(const std::string& path);
std::string path_named(const std::string& name);

/// The mark and the name of a line "MARK NAME"; a text that is none is all mark.
std::pair<std::string_view, std::string_view> split_marked(std::string_view line);

}  // namespace sortie
