#pragma once

#include <filesystem>
#include <string>

namespace sortie {

/// A path for a message: one line, valid UTF-8, cut where it is very long.
std::string path_text(const std::filesystem::path& path);

/// A name that no other file of the folder has: ".sortie-<16 hex digits>.tmp".
std::string temporary_name();

}  // namespace sortie
