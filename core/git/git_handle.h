#pragma once

#include <git2.h>

#include <memory>
#include <string>

#include "core/base/error.h"

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
using GitFilters = GitHandle<git_filter_list, git_filter_list_free>;
using GitPathspec = GitHandle<git_pathspec, git_pathspec_free>;

/// Receives the result that a libgit2 call stores through its first parameter:
/// `git_repository_open(GitOut(repository), path)`. The handle is set at the end of the full
/// expression.
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

/// Initializes libgit2 once per process so that it trusts no repository: it reads only the
/// repository's own configuration (no system, global or XDG file), and runs nothing from it. There
/// is no owner check, since everything is only read.
void start_libgit2();

/// Throws Error "STEP: <libgit2's message>" if a libgit2 call returned an error.
void check_git(int result, const std::string& step, ExitCode code = ExitCode::internal);

/// The 40 hex digits of an object id.
std::string id_text(const git_oid& id);

}  // namespace sortie
