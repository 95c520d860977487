#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sortie {

/// The git repository around a folder, as it stands on disk. Nothing of it is trusted: its
/// configuration names no program that is run, its owner does not matter, nothing is written.
struct GitInfo {
  std::filesystem::path toplevel;  ///< the working tree's root: the folder that holds `.git`
  std::filesystem::path git_dir;   ///< of a linked worktree: its own, below the main one's
  std::string head_commit;         ///< full id; "" before the first commit
  std::string branch;              ///< "main"; "" when HEAD is detached
  bool operator==(const GitInfo&) const = default;
};

/// Whether two index files list the same entries, whatever they remember of the files' times:
/// commands that only read, git diff for one, write that anew.
/// @return false where one can't be read
bool lists_same_entries(const std::filesystem::path& index, const std::filesystem::path& other);

/// Looks at the folder and its parents; nothing where none of them is a working tree.
///
/// @param folder  absolute, links resolved
/// @throws Error  ExitCode::environment for a repository that can't be read (damaged, SHA-256 ids)
std::optional<GitInfo> read_git_info(const std::filesystem::path& folder);

}  // namespace sortie
