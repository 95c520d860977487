#pragma once

#include <git2.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/git/config/git_place.h"

namespace sortie {

template <auto free_handle>
struct GitFree {
  template <class T>
  void operator()(T* handle) const noexcept {
    free_handle(handle);
  }
};
template <class T, auto free_handle>
using GitHandle = std::unique_ptr<T, GitFree<free_handle>>;

using GitRepository = GitHandle<git_repository, git_repository_free>;
using GitOdb = GitHandle<git_odb, git_odb_free>;
using GitIndex = GitHandle<git_index, git_index_free>;
using GitConfig = GitHandle<git_config, git_config_free>;
using GitReference = GitHandle<git_reference, git_reference_free>;
using GitObject = GitHandle<git_object, git_object_free>;
using GitCommit = GitHandle<git_commit, git_commit_free>;
using GitTree = GitHandle<git_tree, git_tree_free>;
using GitTreeEntry = GitHandle<git_tree_entry, git_tree_entry_free>;
using GitBlob = GitHandle<git_blob, git_blob_free>;
using GitDiff = GitHandle<git_diff, git_diff_free>;
using GitPatch = GitHandle<git_patch, git_patch_free>;
using GitPathspec = GitHandle<git_pathspec, git_pathspec_free>;

/// Takes what a libgit2 call stores through its first parameter:
/// `git_repository_open(GitOut(repository), path)`. The handle has it from the end of that whole
/// expression on.
template <class Handle>
class GitOut {
 public:
  explicit GitOut(Handle& handle) noexcept : handle_(handle) {}
  GitOut(const GitOut&) = delete;
  ~GitOut() { handle_.reset(stored_); }
  operator typename Handle::element_type **() noexcept { return &stored_; }

 private:
  Handle& handle_;
  typename Handle::element_type* stored_ = nullptr;
};

/// Starts libgit2 once for the process, in a way that trusts no repository and reads no
/// configuration but the repository's own, of which it runs nothing: no system, global or XDG
/// file, no owner check (everything is only read).
void start_libgit2();

/// Throws Error "STEP: <libgit2's message>" when a libgit2 call returned an error.
void check_git(int result, const std::string& step, ExitCode code = ExitCode::internal);

/// The 40 hex digits of an object id.
std::string id_text(const git_oid& id);

/// The id that git gives these bytes as a file's content.
git_oid blob_id(std::string_view content);

/// The bytes of a file's content.
std::string blob_text(const GitBlob& blob);

/// What the repository's own configuration says, with what it includes; nothing where it does not
/// have the name or can't be read.
std::optional<std::string> setting_of(git_repository& repository, const char* name);
std::optional<bool> switch_of(git_repository& repository, const char* name);

/// A folder's path below the toplevel, with a slash at its end; "" for the toplevel itself.
std::string prefix_in(const std::filesystem::path& toplevel, const std::filesystem::path& folder);

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

/// git leaves out the checksum at an index's end where `index.skipHash` says so
/// (`feature.manyFiles`), and libgit2 refuses such an index: it is given a copy in memory that has
/// one. Another index stays unread.
void give_readable_index(git_repository& repository, const std::filesystem::path& index);

/// Opens an index file by itself. @return false where it can't be read
bool open_index_file(GitIndex& index, const std::filesystem::path& path);

}  // namespace sortie
