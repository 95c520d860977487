#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sortie {

/// Whether a path is a folder's or lies below it, by its words alone: neither is looked up, and
/// ".." is a name like any other. A final "/" of the folder says nothing; "" holds every path.
bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder);

/// Whether it is one of these folders' or lies below one of them.
bool is_below_any(const std::string& path, const std::vector<std::filesystem::path>& folders);

/// The path relative to the folder, "." for the folder itself, by words too, but that ".." leads up:
/// nothing where the path is not the folder's and does not lie below it, or where one of them is
/// absolute and the other is not.
std::optional<std::filesystem::path> path_below(const std::filesystem::path& path,
                                                const std::filesystem::path& folder);

}  // namespace sortie
