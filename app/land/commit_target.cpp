#include "app/land/commit_target.h"

#include <git2.h>
#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using GitSignature = GitHandle<git_signature, git_signature_free>;

/// A name or address for a commit's header.
std::string header_word(const std::optional<std::string>& value, const char* fallback) {
  std::string word = one_line(repair_utf8(value.value_or("")), 100);
  std::erase_if(word, [](char c) { return c == '<' || c == '>' || c == '"' || c == '\\'; });
  word = trimmed(word);
  return word.empty() ? fallback : word;
}

/// For root: files in the repository are made as its owner's, who could not write beside them later.
class AsOwner {
 public:
  explicit AsOwner(git_repository& repository) {
    struct stat owner {};
    if (::geteuid() != 0 || ::stat(git_repository_commondir(&repository), &owner) != 0) return;
    group_ = static_cast<gid_t>(::setfsgid(owner.st_gid));
    user_ = static_cast<uid_t>(::setfsuid(owner.st_uid));
    active_ = true;
    // Root still passes folders that the owner can't: setfsuid(2) takes that away, too.
    constexpr unsigned kPassing = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH;
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2]{};
    if (::syscall(SYS_capget, &header, data) != 0) return;
    data[0].effective |= data[0].permitted & kPassing;
    ::syscall(SYS_capset, &header, data);
  }
  AsOwner(const AsOwner&) = delete;
  AsOwner& operator=(const AsOwner&) = delete;
  ~AsOwner() {
    if (!active_) return;
    ::setfsuid(user_);
    ::setfsgid(group_);
  }

 private:
  uid_t user_ = 0;
  gid_t group_ = 0;
  bool active_ = false;
};

[[noreturn]] void refuse_ref(const std::string& ref, const std::string& why) {
  throw Error("--onto " + one_line(ref, 100) + ": " + why, ExitCode::usage);
}

/// The local branch of that name, as "main" or "refs/heads/main".
GitReference find_branch(git_repository& repository, const std::string& ref) {
  constexpr std::string_view kHeads = "refs/heads/";
  const std::string name = ref.starts_with(kHeads) ? ref.substr(kHeads.size()) : ref;
  GitReference branch;
  if (git_branch_lookup(GitOut(branch), &repository, name.c_str(), GIT_BRANCH_LOCAL) != 0)
    return {};
  return branch;
}

/// The branch's name where REF is "HEAD" or one of a remote: "main" of "origin/main"; else "".
std::string branch_behind(git_repository& repository, const std::string& ref) {
  GitReference found;
  const bool is_head = ref == "HEAD";
  const int result = is_head ? git_repository_head(GitOut(found), &repository)
                             : git_reference_dwim(GitOut(found), &repository, ref.c_str());
  if (result != 0) return "";
  const std::string name = git_reference_shorthand(found.get());
  if (is_head) return git_reference_is_branch(found.get()) == 1 ? name : "";
  return git_reference_is_remote(found.get()) == 1 ? name.substr(name.find('/') + 1) : "";
}

}  // namespace

Identity identity_of(git_repository& repository) {
  return {header_word(setting_of(repository, "user.name"), "sortie"),
          header_word(setting_of(repository, "user.email"), "sortie@localhost")};
}

CommitTarget::CommitTarget(git_repository& repository, const std::string& ref)
    : repository_(repository), reference_(find_branch(repository, ref)) {
  if (reference_) {
    if (git_branch_is_checked_out(reference_.get()) == 1)
      refuse_ref(ref,
                 "the branch is checked out in a work tree; leave out --onto to change that, or "
                 "name a new branch");
    branch_ = git_reference_shorthand(reference_.get());
  } else {
    branch_ = branch_behind(repository, ref);
  }
  GitObject object;
  if (git_revparse_single(GitOut(object), &repository, ref.c_str()) != 0)
    refuse_ref(ref, "no such branch or commit in this repository");
  GitObject peeled;
  if (git_object_peel(GitOut(peeled), object.get(), GIT_OBJECT_COMMIT) != 0)
    refuse_ref(ref, "is no commit");
  commit_.reset(reinterpret_cast<git_commit*>(peeled.release()));
  check_git(git_commit_tree(GitOut(tree_), commit_.get()), "--onto", ExitCode::environment);
}

PresentEntry CommitTarget::present(const std::string& path) const {
  PresentEntry present;
  GitTreeEntry entry;
  const int result = git_tree_entry_bypath(GitOut(entry), tree_.get(), path.c_str());
  if (result == GIT_ENOTFOUND) return present;
  check_git(result, path_text(path), ExitCode::environment);
  const git_filemode_t mode = git_tree_entry_filemode_raw(entry.get());
  if (mode == GIT_FILEMODE_TREE) {
    present.kind = PresentEntry::Kind::folder;
  } else if (mode == GIT_FILEMODE_COMMIT) {
    present.kind = PresentEntry::Kind::other;
  } else {
    GitBlob blob;
    check_git(git_blob_lookup(GitOut(blob), &repository_, git_tree_entry_id(entry.get())),
              path_text(path), ExitCode::environment);
    present.kind = PresentEntry::Kind::file;
    const bool program = mode == GIT_FILEMODE_BLOB_EXECUTABLE;
    present.entry = {mode == GIT_FILEMODE_LINK ? 0120000u
                     : program                 ? 0100755u
                                               : 0100644u,
                     blob_text(blob)};
  }
  return present;
}

git_oid CommitTarget::make_tree(const std::vector<PathChange>& changes) const {
  GitIndex index;
  check_git(git_index_new(GitOut(index)), "--onto");
  check_git(git_index_read_tree(index.get(), tree_.get()), "--onto", ExitCode::environment);
  for (const PathChange& change : changes)
    if (!change.after) git_index_remove(index.get(), change.path.c_str(), 0);
  for (const PathChange& change : changes) {
    if (!change.after) continue;
    git_index_entry entry{};
    entry.path = change.path.c_str();
    entry.mode = change.after->mode;
    check_git(git_blob_create_from_buffer(&entry.id, &repository_, change.after->content.data(),
                                          change.after->content.size()),
              path_text(change.path), ExitCode::environment);
    check_git(git_index_add(index.get(), &entry), path_text(change.path), ExitCode::integrity);
  }
  git_oid id;
  check_git(git_index_write_tree_to(&id, index.get(), &repository_), "--onto",
            ExitCode::environment);
  return id;
}

std::string CommitTarget::land(const std::vector<PathChange>& changes, const std::string& message) {
  const AsOwner owner(repository_);
  const git_oid tree_id = make_tree(changes);
  GitTree tree;
  check_git(git_tree_lookup(GitOut(tree), &repository_, &tree_id), "--onto");
  const Identity identity = identity_of(repository_);
  GitSignature signature;
  check_git(git_signature_now(GitOut(signature), identity.name.c_str(), identity.email.c_str()),
            "--onto");
  const git_commit* parents[] = {commit_.get()};
  check_git(git_commit_create(&made_, &repository_, nullptr, signature.get(), signature.get(),
                              "UTF-8", message.c_str(), tree.get(), 1, parents),
            "--onto", ExitCode::environment);
  return id_text(made_);
}

void CommitTarget::settle() {
  if (!reference_) return;
  const AsOwner owner(repository_);
  GitReference moved;
  const int result = git_reference_create_matching(GitOut(moved), &repository_,
                                                   git_reference_name(reference_.get()), &made_, 1,
                                                   git_commit_id(commit_.get()), "sortie land");
  if (result == GIT_EMODIFIED || result == GIT_ELOCKED)
    throw Error("--onto " + branch_ + ": the branch has moved meanwhile", ExitCode::conflict);
  check_git(result, "--onto " + branch_, ExitCode::environment);
}

}  // namespace sortie
