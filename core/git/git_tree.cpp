#include "core/git/git_tree.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "core/base/clock.h"
#include "core/git/git_repository.h"
#include "core/git/index_file.h"
#include "core/git/read_index.h"

namespace sortie {
namespace fs = std::filesystem;
namespace {

constexpr auto kUnreadable = ExitCode::environment;

using GitWalk = GitHandle<git_revwalk, git_revwalk_free>;

/// Lets libgit2 call the check; an exception is rethrown after libgit2 has returned.
class GitCancel {
 public:
  explicit GitCancel(const CancelCheck& check_cancel) : check_cancel_(check_cancel) {}
  void operator()() const {
    if (check_cancel_) check_cancel_();
  }
  /// As git_diff_progress_cb.
  static int on_progress(const git_diff*, const char*, const char*, void* self) {
    return static_cast<GitCancel*>(self)->ask();
  }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  int ask() noexcept {
    try {
      (*this)();
      return 0;
    } catch (...) {
      thrown_ = std::current_exception();
      return GIT_EUSER;
    }
  }

  const CancelCheck& check_cancel_;
  std::exception_ptr thrown_{};
};

/// A libgit2 string.
struct GitText {
  git_buf buffer = GIT_BUF_INIT;
  ~GitText() { git_buf_dispose(&buffer); }
  std::string text() const {
    return std::string(buffer.ptr == nullptr ? "" : buffer.ptr, buffer.size);
  }
};

const char* name_of_state(int state) {
  switch (state) {
    case GIT_REPOSITORY_STATE_MERGE:
      return "merge";
    case GIT_REPOSITORY_STATE_REVERT:
    case GIT_REPOSITORY_STATE_REVERT_SEQUENCE:
      return "revert";
    case GIT_REPOSITORY_STATE_CHERRYPICK:
    case GIT_REPOSITORY_STATE_CHERRYPICK_SEQUENCE:
      return "cherry-pick";
    case GIT_REPOSITORY_STATE_BISECT:
      return "bisect";
    case GIT_REPOSITORY_STATE_REBASE:
    case GIT_REPOSITORY_STATE_REBASE_INTERACTIVE:
    case GIT_REPOSITORY_STATE_REBASE_MERGE:
      return "rebase";
    case GIT_REPOSITORY_STATE_APPLY_MAILBOX:
    case GIT_REPOSITORY_STATE_APPLY_MAILBOX_OR_REBASE:
      return "am";
    default:
      return "";
  }
}

void read_branch(git_repository& repository, const CancelCheck& check_cancel, GitTreeState& state) {
  GitReference head;
  if (git_reference_lookup(GitOut(head), &repository, "HEAD") < 0) return;
  const char* const target = git_reference_symbolic_target(head.get());
  constexpr std::string_view kBranches = "refs/heads/";
  constexpr std::string_view kRemotes = "refs/remotes/";
  if (target == nullptr || !std::string_view(target).starts_with(kBranches)) return;
  state.branch = target + kBranches.size();
  GitText upstream;
  if (git_branch_upstream_name(&upstream.buffer, &repository, target) < 0) return;
  const std::string full = upstream.text();
  state.upstream = full;
  for (const auto prefix : {kRemotes, kBranches})
    if (state.upstream.starts_with(prefix)) state.upstream.erase(0, prefix.size());
  git_oid here;
  git_oid there;
  state.upstream_is_gone = git_reference_name_to_id(&there, &repository, full.c_str()) < 0;
  if (state.upstream_is_gone || git_reference_name_to_id(&here, &repository, target) < 0) return;
  const auto distance = git_distance(repository, here, there, check_cancel);
  if (!distance) return;
  state.ahead = distance->ahead;
  state.behind = distance->behind;
}

TrackedFile tracked_file(const IndexEntry& entry, std::size_t skipped,
                         const struct timespec& written) {
  TrackedFile file;
  file.path = entry.path.substr(skipped);
  file.mode = entry.mode;
  file.id = entry.id;
  file.size = entry.size;
  file.modified_s = entry.modified_s;
  file.modified_ns = entry.modified_ns;
  file.changed_s = entry.changed_s;
  file.changed_ns = entry.changed_ns;
  // A "racily clean" file: changed again within the timestamp of the index, it has the times that
  // the index knows.
  file.settled = file.modified_s < written.tv_sec ||
                 (file.modified_s == written.tv_sec && file.modified_ns < written.tv_nsec);
  file.not_looked_at = entry.assume_unchanged || entry.skip_worktree;
  file.to_be_added = entry.intent_to_add;
  if (entry.stage != 0) file.conflict = 1u << (entry.stage - 1);
  return file;
}

void read_tracked(const IndexFile& index, const struct timespec& written, const std::string& prefix,
                  const GitCancel& check_cancel, GitTreeState& state) {
  for (std::size_t i = index.lower_bound(prefix); i < index.size(); ++i) {
    if (i % 1024 == 0) check_cancel();
    const IndexEntry entry = index.entry(i);
    if (!entry.path.starts_with(prefix)) break;
    TrackedFile file = tracked_file(entry, prefix.size(), written);
    // The stages of a conflict make one file.
    if (!state.tracked.empty() && state.tracked.back().path == file.path)
      state.tracked.back().conflict |= file.conflict;
    else
      state.tracked.push_back(std::move(file));
  }
}

char letter_of(git_delta_t kind) {
  if (kind == GIT_DELTA_ADDED) return 'A';
  if (kind == GIT_DELTA_DELETED) return 'D';
  if (kind == GIT_DELTA_RENAMED) return 'R';
  return kind == GIT_DELTA_TYPECHANGE ? 'T' : 'M';
}

/// Whether all added files may be compared with all deleted ones: the number of pairs and of bytes
/// is limited. Exact renames are found without that.
bool may_compare_contents(git_repository& repository, git_diff& diff) {
  constexpr std::size_t kMostPairs = 100'000;
  constexpr std::size_t kMostBytes = 32u << 20;
  GitOdb objects;
  if (git_repository_odb(GitOut(objects), &repository) < 0) return false;
  std::size_t added = 0;
  std::size_t deleted = 0;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < git_diff_num_deltas(&diff); ++i) {
    const git_diff_delta& delta = *git_diff_get_delta(&diff, i);
    const bool is_new = delta.status == GIT_DELTA_ADDED;
    if (!is_new && delta.status != GIT_DELTA_DELETED) continue;
    ++(is_new ? added : deleted);
    if (added * deleted > kMostPairs) return false;
    std::size_t size = 0;
    git_object_t type = GIT_OBJECT_INVALID;
    const git_oid& id = is_new ? delta.new_file.id : delta.old_file.id;
    if (git_odb_read_header(&size, &type, objects.get(), &id) < 0) return false;
    bytes += size;
    if (bytes > kMostBytes) return false;
  }
  return true;
}

void find_renames(git_repository& repository, git_diff& diff) {
  git_diff_find_options options = GIT_DIFF_FIND_OPTIONS_INIT;
  options.flags = GIT_DIFF_FIND_RENAMES;
  if (!may_compare_contents(repository, diff)) options.flags |= GIT_DIFF_FIND_EXACT_MATCH_ONLY;
  (void)git_diff_find_similar(&diff, &options);  // on failure they stay additions and deletions
}

/// Adds a change with paths relative to the workspace. A rename with only one side in the workspace
/// becomes an addition or a deletion.
void add_staged(const git_diff_delta& delta, const std::string& prefix, GitTreeState& state) {
  const std::string_view path =
      delta.new_file.path != nullptr ? delta.new_file.path : delta.old_file.path;
  const bool is_here = path.starts_with(prefix);
  if (delta.status != GIT_DELTA_RENAMED) {
    if (is_here)
      state.staged.push_back({letter_of(delta.status), std::string(path.substr(prefix.size()))});
    return;
  }
  const std::string_view old_path = delta.old_file.path;
  const bool was_here = old_path.starts_with(prefix);
  StagedChange change{is_here && was_here ? 'R' : is_here ? 'A' : 'D', ""};
  if (is_here) change.path = path.substr(prefix.size());
  if (was_here) (is_here ? change.old_path : change.path) = old_path.substr(prefix.size());
  if (is_here || was_here) state.staged.push_back(std::move(change));
}

void read_staged(git_repository& repository, git_index& index, const std::string& prefix,
                 const GitTree& tree, GitCancel& check_cancel, GitTreeState& state) {
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  options.flags =
      GIT_DIFF_INCLUDE_TYPECHANGE | GIT_DIFF_DISABLE_PATHSPEC_MATCH | GIT_DIFF_SKIP_BINARY_CHECK;
  options.ignore_submodules = GIT_SUBMODULE_IGNORE_ALL;
  options.progress_cb = GitCancel::on_progress;
  options.payload = &check_cancel;
  GitDiff diff;
  const int result =
      git_diff_tree_to_index(GitOut(diff), &repository, tree.get(), &index, &options);
  check_cancel.rethrow();
  check_git(result, "what is staged", kUnreadable);
  find_renames(repository, *diff);
  const std::size_t count = git_diff_num_deltas(diff.get());
  for (std::size_t i = 0; i < count; ++i) {
    const git_diff_delta& delta = *git_diff_get_delta(diff.get(), i);
    if (delta.status == GIT_DELTA_CONFLICTED) continue;  // shown as unstaged
    const char* const path = delta.new_file.path;
    const git_index_entry* const entry =
        delta.status == GIT_DELTA_ADDED ? git_index_get_bypath(&index, path, 0) : nullptr;
    if (entry != nullptr && (entry->flags_extended & GIT_INDEX_ENTRY_INTENT_TO_ADD) != 0) continue;
    add_staged(delta, prefix, state);
  }
  std::sort(state.staged.begin(), state.staged.end(),
            [](const StagedChange& a, const StagedChange& b) { return a.path < b.path; });
}

bool is_tree(const GitTree& tree, const IndexFile& index) {
  return tree && index.tree() &&
         std::memcmp(git_tree_id(tree.get())->id, index.tree()->data(), index.tree()->size()) == 0;
}

/// What is tracked, and what is staged. Both without libgit2 if nothing is staged, as git notes in
/// the index.
void read_both(const FoundRepository& found, const std::string& prefix, GitCancel& check_cancel,
               GitTreeState& state) {
  const fs::path file = found.place.git_dir / "index";
  const GitTree tree = head_tree(*found.handle);
  struct stat status {};
  (void)::stat(file.c_str(), &status);  // before it is read: newer times are looked at again
  auto index = IndexFile::open(file);
  check_cancel();
  if (!index || !is_tree(tree, *index)) {
    GitIndex by_libgit2;
    check_git(git_repository_index(GitOut(by_libgit2), found.handle.get()), "the index",
              kUnreadable);
    read_staged(*found.handle, *by_libgit2, prefix, tree, check_cancel, state);
    if (!index) index = index_of(*by_libgit2);
  }
  read_tracked(*index, status.st_mtim, prefix, check_cancel, state);
}

void read_commits(git_repository& repository, int most, GitTreeState& state) {
  GitWalk walk;
  if (git_revwalk_new(GitOut(walk), &repository) < 0) return;
  if (git_revwalk_push_head(walk.get()) < 0) return;  // no commit yet
  git_oid id;
  for (int i = 0; i < most && git_revwalk_next(&id, walk.get()) == 0; ++i) {
    GitCommit commit;
    if (git_commit_lookup(GitOut(commit), &repository, &id) < 0) return;  // a shallow clone
    const std::chrono::system_clock::time_point time{
        std::chrono::seconds(git_commit_time(commit.get()))};
    const char* const subject = git_commit_summary(commit.get());
    const git_signature* const author = git_commit_author(commit.get());
    state.commits.push_back({.id = id_text(id).substr(0, 10),
                             .date = utc_timestamp(time).substr(0, 10),
                             .author = author != nullptr && author->name ? author->name : "",
                             .subject = subject != nullptr ? subject : ""});
  }
}

}  // namespace

GitTreeState read_git_tree(const fs::path& workspace, int commits, const CancelCheck& given_check) {
  GitCancel check_cancel(given_check);
  const FoundRepository found = find_repository(workspace);
  if (!found.handle)
    throw Error("not a git working tree: " + workspace.string(), ExitCode::environment);
  git_repository& repository = *found.handle;
  const std::string prefix = prefix_in(found.toplevel, workspace);
  GitTreeState state;
  read_branch(repository, given_check, state);
  check_cancel();
  state.head = head_commit(repository);
  state.doing = name_of_state(git_repository_state(&repository));
  state.modes_count = switch_of(repository, "core.filemode").value_or(true);
  state.links_count = switch_of(repository, "core.symlinks").value_or(true);
  read_both(found, prefix, check_cancel, state);
  check_cancel();
  read_commits(repository, commits, state);
  return state;
}

std::set<std::string, std::less<>> tracked_dot_names(const fs::path& workspace) {
  std::set<std::string, std::less<>> names;
  try {
    const auto looked_at = look_at_repository(workspace);
    const FoundRepository& found = *looked_at;
    if (!found.handle) return names;
    auto index = IndexFile::open(found.place.git_dir / "index");
    if (!index) {
      GitIndex by_libgit2;
      if (git_repository_index(GitOut(by_libgit2), found.handle.get()) < 0) return names;
      index = index_of(*by_libgit2);
    }
    const std::string prefix = prefix_in(found.toplevel, workspace);
    for (std::size_t i = 0; i < index->size(); ++i) {
      std::string_view path = index->path(i);
      if (!path.starts_with(prefix)) continue;
      path.remove_prefix(prefix.size());
      for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        if (path[at] == '.') names.emplace(path.substr(0, end));
        at = end + 1;
      }
    }
  } catch (const Error&) {  // unreadable: nothing known
  }
  return names;
}

}  // namespace sortie
