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

/// Looks at the folder and its parents; nothing where none of them is a working tree, or it is one
/// that is refused.
///
/// @param folder  absolute, links resolved
/// @throws Error  ExitCode::environment for a repository that is damaged
std::optional<GitInfo> read_git_info(const std::filesystem::path& folder);

/// Why a run goes on as on a folder without git although a repository is there, for people: it
/// leads to foreign ones (git_place.h), its ids are SHA-256, its references are kept as reftable …
/// "" where it is used, or there is none.
std::string why_git_is_refused(const std::filesystem::path& folder);

}  // namespace sortie
