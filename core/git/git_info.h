#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sortie {

/// The git repository around a folder. It is not trusted: no program that its configuration names
/// is run, its owner does not matter, nothing is written.
struct GitInfo {
  std::filesystem::path toplevel;  ///< the working tree's root: the folder that holds `.git`
  std::filesystem::path git_dir;   ///< for a linked worktree its own, below the main one's
  std::string head_commit;         ///< full id; "" before the first commit
  std::string branch;              ///< "main"; "" when HEAD is detached
  bool operator==(const GitInfo&) const = default;
};

/// Whether two index files list the same entries. The recorded file times may differ: even commands
/// that only read, such as git diff, update them.
/// @return  false if one can't be read
bool lists_same_entries(const std::filesystem::path& index, const std::filesystem::path& other);

/// Searches the folder and its parents; nothing if none is a working tree, or it is refused.
///
/// @param folder  absolute, links resolved
/// @throws Error  ExitCode::environment for a damaged repository
std::optional<GitInfo> read_git_info(const std::filesystem::path& folder);

/// Why a run treats the folder as one without git although there is a repository, for people: it
/// links to foreign ones (git_place.h), its ids are SHA-256, its references use reftable … "" if
/// the repository is used, or there is none.
std::string why_git_is_refused(const std::filesystem::path& folder);

}  // namespace sortie
