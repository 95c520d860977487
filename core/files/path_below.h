#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sortie {

/// Whether a path is a folder or below it, compared as text: no link is resolved, and ".." is a
/// name like any other. A final "/" of the folder is ignored; every path is below "".
bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder);

/// Whether the path is one of these folders or below one of them.
bool is_below_any(const std::string& path, const std::vector<std::filesystem::path>& folders);

/// The path relative to the folder, "." for the folder itself, as text, except that ".." leads up.
/// Nothing if the path is not the folder or below it, or only one of them is absolute.
std::optional<std::filesystem::path> path_below(const std::filesystem::path& path,
                                                const std::filesystem::path& folder);

}  // namespace sortie
