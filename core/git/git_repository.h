#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/git/config/git_place.h"
#include "core/git/git_handle.h"

namespace sortie {

/// The blob id of these bytes.
git_oid blob_id(std::string_view content);

/// The content of a blob.
std::string blob_text(const GitBlob& blob);

/// A value of the repository's own configuration and its includes; nothing if it is not set, or
/// can't be read.
std::optional<std::string> setting_of(git_repository& repository, const char* name);
std::optional<bool> switch_of(git_repository& repository, const char* name);

/// A folder's path below the toplevel, with a slash at its end; "" for the toplevel itself.
std::string prefix_in(const std::filesystem::path& toplevel, const std::filesystem::path& folder);

/// A repository found on disk, opened for reading.
struct FoundRepository {
  GitRepository handle;            ///< empty if there is none, or it is refused
  std::filesystem::path toplevel;  ///< the folder that contains `.git`; "" if the handle is empty
  GitPlace place;                  ///< with the reason if it is refused
};

/// Searches for `.git` in the folder and its parents, as git does, but by our own walk: the
/// repository's `core.worktree` can't move the working tree. A repository that links to foreign
/// ones, or has a format that libgit2 can't read, is refused.
/// @throws Error  ExitCode::environment for a repository that can't be read
FoundRepository find_repository(const std::filesystem::path& folder);

/// As find_repository(), for a look that ends before the run writes anything: while a GitPlacesOnce
/// (git_place.h) exists, calls for one folder share a repository, of which the thread opens only one.
std::shared_ptr<const FoundRepository> look_at_repository(const std::filesystem::path& folder);

/// HEAD's commit id; "" before the first commit.
std::string head_commit(git_repository& repository);

/// HEAD's tree; none before the first commit.
/// @throws Error  ExitCode::environment if an object is missing, with advice how to restore it
GitTree head_tree(git_repository& repository);

/// The repository's own ignore rules besides .gitignore: those of `core.excludesFile`, then those
/// of `info/exclude`; later ones win.
std::string exclude_rules(const FoundRepository& found);

/// With `index.skipHash` (`feature.manyFiles`) git writes an index without a checksum, which
/// libgit2 refuses: this gives libgit2 a copy in memory with a checksum. Does nothing for other
/// indexes.
void give_readable_index(git_repository& repository, const std::filesystem::path& index);

/// Opens an index file on its own. @return  false if it can't be read
bool open_index_file(GitIndex& index, const std::filesystem::path& path);

/// How many commits two commits differ by.
struct GitDistance {
  std::size_t ahead = 0;   ///< commits reachable only from the first
  std::size_t behind = 0;  ///< commits reachable only from the second
  bool operator==(const GitDistance&) const = default;
};

/// Counts like `git rev-list --left-right --count FIRST...SECOND`. This takes long if the histories
/// are far apart or unrelated.
///
/// @param check_cancel  called for each commit; its exceptions propagate
/// @return              nothing if a commit is missing, as in a shallow clone
std::optional<GitDistance> git_distance(git_repository& repository, const git_oid& first,
                                        const git_oid& second,
                                        const std::function<void()>& check_cancel);

}  // namespace sortie
