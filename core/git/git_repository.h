#pragma once

#include <filesystem>
#include <string>

#include "core/git/config/git_place.h"
#include "core/git/git_handle.h"

namespace sortie {

/// A repository found on disk, opened for reading.
struct FoundRepository {
  GitRepository handle;            ///< empty where there is none, or it is refused
  std::filesystem::path toplevel;  ///< the folder that holds `.git`; "" as the handle
  GitPlace place;                  ///< with the reason, where it is refused
};

/// Looks for `.git` in the folder and its parents, as git does, but by our own walk: the
/// repository's `core.worktree` can't move the working tree elsewhere. One that leads to foreign
/// repositories, or is of a format that libgit2 can't read, is refused.
/// @throws Error  ExitCode::environment for a repository that can't be read
FoundRepository find_repository(const std::filesystem::path& folder);

/// HEAD's commit id; "" before the first commit.
std::string head_commit(git_repository& repository);

/// HEAD's tree; none before the first commit.
/// @throws Error  ExitCode::environment where an object is missing, with what brings it back
GitTree head_tree(git_repository& repository);

/// The repository's own ignore rules beside .gitignore: of the file that `core.excludesFile` names
/// and of `info/exclude`, later ones win.
std::string exclude_rules(const FoundRepository& found);

}  // namespace sortie
