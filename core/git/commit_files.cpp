#include "core/git/commit_files.h"

#include "core/files/file_name.h"
#include "core/files/files.h"

namespace sortie {

CommitFiles::CommitFiles(const std::filesystem::path& folder, const std::string& commit)
    : found_(find_repository(std::filesystem::weakly_canonical(folder))) {
  if (!found_.handle) {
    problem_ = path_text(folder) + ": " +
               (found_.place.refused.empty() ? "no git repository" : found_.place.refused);
    return;
  }
  git_oid id;
  GitCommit object;
  bool there = git_oid_fromstr(&id, commit.c_str()) == 0;
  // Each in a statement of its own: that sets the handle (GitOut).
  if (there) there = git_commit_lookup(GitOut(object), found_.handle.get(), &id) == 0;
  if (there) there = git_commit_tree(GitOut(tree_), object.get()) == 0;
  if (!there)
    problem_ = path_text(found_.toplevel) + ": the repository has no commit " + commit +
               "; fetch it first";
}

std::optional<std::string> CommitFiles::content(const std::string& path) const {
  if (!tree_) return std::nullopt;
  GitTreeEntry entry;
  const int found = git_tree_entry_bypath(GitOut(entry), tree_.get(), path.c_str());
  if (found == GIT_ENOTFOUND) return std::nullopt;
  check_git(found, path_text(path), ExitCode::environment);
  if (git_tree_entry_type(entry.get()) != GIT_OBJECT_BLOB) return std::nullopt;
  // A small object may say that it is inflated to very much.
  const git_oid* const id = git_tree_entry_id(entry.get());
  GitOdb odb;
  check_git(git_repository_odb(GitOut(odb), found_.handle.get()), path_text(path),
            ExitCode::environment);
  std::size_t size = 0;
  git_object_t type = GIT_OBJECT_INVALID;
  if (git_odb_read_header(&size, &type, odb.get(), id) == 0 && size > kMostFileBytes)
    throw Error(path_text(path) + ": the commit has more than " +
                    std::to_string(kMostFileBytes >> 20) + " MiB of it",
                ExitCode::environment);
  GitBlob blob;
  check_git(git_blob_lookup(GitOut(blob), found_.handle.get(), id), path_text(path),
            ExitCode::environment);
  return blob_text(blob);
}

}  // namespace sortie
