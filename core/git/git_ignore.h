#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sortie {

/// An ignore file outside of a workspace that applies to it.
struct OuterIgnoreFile {
  enum class Kind {
    gitignore,  ///< in a folder above the workspace
    exclude,    ///< belongs to the repository itself
  };
  Kind kind = Kind::gitignore;
  std::string prefix{};  ///< the workspace relative to where the rules apply: "services/web"; or ""
  std::string text{};
};

/// The outer ignore files of the repository around a workspace; of one kind, later ones win: the
/// repository's own `core.excludesFile`, `info/exclude` (for a linked worktree, the main one's),
/// and the .gitignore of each folder above, outermost first. The user's git settings are not read:
/// a run should be the same on every machine. Empty without a repository.
/// @param workspace  absolute, links resolved
std::vector<OuterIgnoreFile> outer_ignore_files(const std::filesystem::path& workspace);

}  // namespace sortie
