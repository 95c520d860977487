#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sortie {

/// An ignore file that holds for a workspace and that no walk through it comes to.
struct OuterIgnoreFile {
  enum class Kind {
    gitignore,  ///< of a folder above the workspace
    exclude,    ///< of the repository itself
  };
  Kind kind = Kind::gitignore;
  std::string prefix{};  ///< the workspace's path from where its rules count: "services/web"; or ""
  std::string text{};
};

/// The outer ignore files of the repository around a workspace, in an order in which later ones of a
/// kind win: the file that `core.excludesFile` of the repository's own configuration names, `info/exclude` (of a
/// linked worktree the main one's), the .gitignore of each folder above, the outermost first. The
/// user's own settings of git are not read: a run is to be the same on every machine.
/// None where there is no repository.
/// @param workspace  absolute, links resolved
std::vector<OuterIgnoreFile> outer_ignore_files(const std::filesystem::path& workspace);

}  // namespace sortie
