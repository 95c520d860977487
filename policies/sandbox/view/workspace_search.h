#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace sortie {

bool has_wildcard(const std::string& glob);

/// How far search_globs() looks.
struct SearchReach {
  enum class Links { left_out, found };
  std::size_t levels = 3;      ///< of folders
  std::size_t entries = 4000;  ///< in all
  Links links = Links::left_out;
  enum class Packages { passed_over, searched };
  Packages packages = Packages::passed_over;  ///< node_modules
};

/// The outermost paths below a folder that match one of the globs (core/text/pattern.h, path_glob)
/// in any letter case. Breadth first and no further than `reach`, so that a tree of any size takes
/// a few milliseconds. Skips everything below a `.git` and, by default, node_modules.
/// @param complete  set to false if there were more entries on these levels
std::vector<std::filesystem::path> search_globs(const std::filesystem::path& folder,
                                                const std::vector<std::string>& globs,
                                                bool* complete, const SearchReach& reach = {});

/// The existing paths that equal these relative ones in any letter case ("agents.md" for
/// "AGENTS.md"), including links; no link on the way is followed. Sorted; reads only the folders
/// above them.
std::vector<std::filesystem::path> search_names(const std::filesystem::path& folder,
                                                const std::vector<std::filesystem::path>& names);

/// Whether git's index of a work tree names the path as tracked. Reads index versions 2 and 3
/// (gitformat-index(5)); false if there is no index or it can't be read.
bool git_tracks(const std::filesystem::path& folder, const std::filesystem::path& path);

/// git_tracks() of one work tree.
inline std::function<bool(const std::string& path)> tracked_by_git(std::filesystem::path folder) {
  return [folder = std::move(folder)](const std::string& path) { return git_tracks(folder, path); };
}

}  // namespace sortie
