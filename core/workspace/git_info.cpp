#include "core/workspace/git_info.h"

#include "core/base/file_name.h"
#include "core/workspace/git_repository.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

/// False where `.git` is there and yet no repository (an empty folder, say): git looks on above.
bool open_at(const fs::path& toplevel, GitRepository& repository) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(toplevel / ".git", error))) return false;
  const int result = git_repository_open_ext(GitOut(repository), toplevel.c_str(),
                                             GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr);
  if (result == GIT_ENOTFOUND) return false;
  const std::string step = "git repository at " + path_text(toplevel);
  check_git(result, step, ExitCode::environment);
  check_git(git_repository_set_workdir(repository.get(), toplevel.c_str(), 0), step,
            ExitCode::environment);
  return true;
}

std::string branch_name(git_repository& repository) {
  GitReference head;
  // Looked up without following it: it names the branch also before the first commit.
  if (git_reference_lookup(GitOut(head), &repository, "HEAD") < 0) return "";
  const char* target = git_reference_symbolic_target(head.get());
  const std::string name = target != nullptr ? target : "";
  const std::string prefix = "refs/heads/";
  return name.compare(0, prefix.size(), prefix) == 0 ? name.substr(prefix.size()) : "";
}

}  // namespace

FoundRepository find_repository(const fs::path& folder) {
  start_libgit2();
  for (fs::path at = folder;; at = at.parent_path()) {
    GitRepository repository;
    if (open_at(at, repository)) return {std::move(repository), at};
    if (at == at.parent_path()) return {};
  }
}

std::string head_commit(git_repository& repository) {
  git_oid id;
  const int result = git_reference_name_to_id(&id, &repository, "HEAD");
  if (result == GIT_ENOTFOUND) return "";
  check_git(result, "HEAD", ExitCode::environment);
  return id_text(id);
}

std::optional<GitInfo> read_git_info(const fs::path& folder) {
  const FoundRepository found = find_repository(folder);
  if (!found.handle) return std::nullopt;
  fs::path git_dir = git_repository_path(found.handle.get());
  if (!git_dir.has_filename()) git_dir = git_dir.parent_path();  // without the slash at its end
  return GitInfo{.toplevel = found.toplevel,
                 .git_dir = git_dir,
                 .head_commit = head_commit(*found.handle),
                 .branch = branch_name(*found.handle)};
}

}  // namespace sortie
