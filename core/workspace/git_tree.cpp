#include "core/workspace/git_tree.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "core/base/clock.h"
#include "core/workspace/git_repository.h"

namespace sortie {
namespace fs = std::filesystem;
namespace {

constexpr auto kUnreadable = ExitCode::environment;

using GitWalk = GitHandle<git_revwalk, git_revwalk_free>;
using GitCommit = GitHandle<git_commit, git_commit_free>;

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

void read_branch(git_repository& repository, GitTreeState& state) {
  GitReference head;
  if (git_reference_lookup(GitOut(head), &repository, "HEAD") < 0) return;
  const char* const target = git_reference_symbolic_target(head.get());
  constexpr std::string_view kBranches = "refs/heads/";
  constexpr std::string_view kRemotes = "refs/remotes/";
  if (target == nullptr || !std::string_view(target).starts_with(kBranches)) return;
  state.branch = target + kBranches.size();
  GitText upstream;
  if (git_branch_upstream_name(&upstream.buffer, &repository, target) < 0) return;
  state.upstream = upstream.text();
  for (const auto prefix : {kRemotes, kBranches})
    if (state.upstream.starts_with(prefix)) state.upstream.erase(0, prefix.size());
}

TrackedFile tracked_file(const git_index_entry& entry, std::size_t skipped,
                         const struct timespec& written) {
  TrackedFile file;
  file.path = entry.path + skipped;
  file.mode = entry.mode;
  std::memcpy(file.id.data(), entry.id.id, file.id.size());
  file.size = entry.file_size;
  file.modified_s = entry.mtime.seconds;
  file.modified_ns = entry.mtime.nanoseconds;
  file.changed_s = entry.ctime.seconds;
  file.changed_ns = entry.ctime.nanoseconds;
  // As git has it: a file that was changed once more in the moment in which the index was written
  // has the times that the index knows.
  file.settled = file.modified_s < written.tv_sec ||
                 (file.modified_s == written.tv_sec && file.modified_ns < written.tv_nsec);
  file.not_looked_at = (entry.flags & GIT_INDEX_ENTRY_VALID) != 0 ||
                       (entry.flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE) != 0;
  file.conflicted = git_index_entry_stage(&entry) != 0;
  return file;
}

void read_index(git_index& index, const std::string& prefix, GitTreeState& state) {
  struct stat status {};
  const char* const path = git_index_path(&index);
  if (path != nullptr) (void)::stat(path, &status);
  const std::size_t count = git_index_entrycount(&index);
  for (std::size_t i = 0; i < count; ++i) {
    const git_index_entry& entry = *git_index_get_byindex(&index, i);
    if (!std::string_view(entry.path).starts_with(prefix)) continue;
    TrackedFile file = tracked_file(entry, prefix.size(), status.st_mtim);
    // One file of several stages is one file.
    if (!state.tracked.empty() && state.tracked.back().path == file.path) continue;
    state.tracked.push_back(std::move(file));
  }
  // By bytes, also where the repository ignores letter case.
  std::sort(state.tracked.begin(), state.tracked.end(),
            [](const TrackedFile& a, const TrackedFile& b) { return a.path < b.path; });
}

char letter_of(git_delta_t kind) {
  if (kind == GIT_DELTA_ADDED) return 'A';
  if (kind == GIT_DELTA_DELETED) return 'D';
  return kind == GIT_DELTA_TYPECHANGE ? 'T' : 'M';
}

void read_staged(git_repository& repository, git_index& index, const std::string& prefix,
                 GitTreeState& state) {
  GitTree tree;
  if (!state.head.empty()) {
    GitObject object;
    check_git(git_revparse_single(GitOut(object), &repository, "HEAD^{tree}"), "HEAD's tree",
              kUnreadable);
    tree.reset(reinterpret_cast<git_tree*>(object.release()));
  }
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  options.flags =
      GIT_DIFF_INCLUDE_TYPECHANGE | GIT_DIFF_DISABLE_PATHSPEC_MATCH | GIT_DIFF_SKIP_BINARY_CHECK;
  options.ignore_submodules = GIT_SUBMODULE_IGNORE_ALL;
  GitDiff diff;
  check_git(git_diff_tree_to_index(GitOut(diff), &repository, tree.get(), &index, &options),
            "what is staged", kUnreadable);
  const std::size_t count = git_diff_num_deltas(diff.get());
  for (std::size_t i = 0; i < count; ++i) {
    const git_diff_delta& delta = *git_diff_get_delta(diff.get(), i);
    if (delta.status == GIT_DELTA_CONFLICTED) continue;  // it is told as unstaged
    const char* const path =
        delta.new_file.path != nullptr ? delta.new_file.path : delta.old_file.path;
    if (std::string_view(path).starts_with(prefix))
      state.staged.push_back({letter_of(delta.status), path + prefix.size()});
  }
}

void read_commits(git_repository& repository, int most, GitTreeState& state) {
  GitWalk walk;
  if (git_revwalk_new(GitOut(walk), &repository) < 0) return;
  if (git_revwalk_push_head(walk.get()) < 0) return;  // no commit yet
  git_oid id;
  for (int i = 0; i < most && git_revwalk_next(&id, walk.get()) == 0; ++i) {
    GitCommit commit;
    if (git_commit_lookup(GitOut(commit), &repository, &id) < 0) return;  // of a shallow clone
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

bool is_blob(const TrackedFile& file, std::string_view content) {
  git_oid id;
  return git_odb_hash(&id, content.data(), content.size(), GIT_OBJECT_BLOB) == 0 &&
         std::memcmp(id.id, file.id.data(), file.id.size()) == 0;
}

}  // namespace

GitTreeState read_git_tree(const fs::path& workspace, int commits) {
  const FoundRepository found = find_repository(workspace);
  if (!found.handle)
    throw Error(workspace.string() + " is no working tree of git", ExitCode::environment);
  git_repository& repository = *found.handle;
  const std::string prefix = workspace == found.toplevel
                                 ? ""
                                 : workspace.lexically_relative(found.toplevel).native() + "/";
  GitTreeState state;
  read_branch(repository, state);
  state.head = head_commit(repository);
  state.doing = name_of_state(git_repository_state(&repository));
  GitIndex index;
  check_git(git_repository_index(GitOut(index), &repository), "the index", kUnreadable);
  read_index(*index, prefix, state);
  read_staged(repository, *index, prefix, state);
  read_commits(repository, commits, state);
  return state;
}

bool has_content(const TrackedFile& file, std::string_view content) {
  if (is_blob(file, content)) return true;
  if (content.find("\r\n") == content.npos) return false;
  std::string with_lf;
  with_lf.reserve(content.size());
  for (std::size_t i = 0; i < content.size(); ++i)
    if (content[i] != '\r' || i + 1 == content.size() || content[i + 1] != '\n')
      with_lf += content[i];
  return is_blob(file, with_lf);
}

}  // namespace sortie
