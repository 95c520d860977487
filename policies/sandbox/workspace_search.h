#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sortie {

bool has_wildcard(const std::string& glob);

/// The paths below a folder that match one of the globs (core/base/pattern.h, path_glob), the
/// outermost alone, links left out. Reads three levels of folders and at most 4,000 entries,
/// breadth first, so that a tree of any size costs a few milliseconds; `.git` and node_modules
/// are passed over.
/// @param complete  set to false where there were more entries on these levels
std::vector<std::filesystem::path> search_globs(const std::filesystem::path& folder,
                                                const std::vector<std::string>& globs,
                                                bool* complete);

/// Whether git's index of a work tree names the path as tracked. Reads index versions 2 and 3
/// (gitformat-index(5)); false where there is no index or it can't be read.
bool git_tracks(const std::filesystem::path& folder, const std::filesystem::path& path);

}  // namespace sortie
