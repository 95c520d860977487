#pragma once

#include <filesystem>

namespace sortie {

/// Whether a path is a folder's or lies below it, by its words alone: neither is looked up, and
/// ".." is a name like any other. A final "/" of the folder says nothing.
bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace sortie
