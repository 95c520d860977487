#include "core/git/git_info.h"

#include <string_view>

#include "core/files/file_name.h"
#include "core/git/config/git_config_files.h"
#include "core/git/config/git_format.h"
#include "core/git/git_index.h"
#include "core/git/git_repository.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

void open_at(FoundRepository& found) {
  const fs::path& toplevel = found.place.toplevel;
  const GitConfigFiles config = read_git_config(found.place);  // libgit2 would wait for a pipe
  if (const std::string obstacle = format_obstacle(config.settings); !obstacle.empty()) {
    found.place.refused = path_text(toplevel / ".git") + " can't be read here: " + obstacle;
    return;
  }
  const int result = git_repository_open_ext(GitOut(found.handle), toplevel.c_str(),
                                             GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr);
  const std::string step = "git repository at " + path_text(toplevel);
  if (result == GIT_ENOTFOUND) {
    found.place.refused = path_text(toplevel / ".git") + " is no whole repository";
    return;
  }
  check_git(result, step, ExitCode::environment);
  check_git(git_repository_set_workdir(found.handle.get(), toplevel.c_str(), 0), step,
            ExitCode::environment);
  give_readable_index(*found.handle, found.place.git_dir / "index");
  found.toplevel = toplevel;
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

bool same_entry(const git_index_entry& one, const git_index_entry& other) {
  // Of the extended flags only those that are stored.
  constexpr auto kStored = GIT_INDEX_ENTRY_EXTENDED_FLAGS;
  return std::string_view(one.path) == other.path && one.mode == other.mode &&
         one.flags == other.flags && git_oid_equal(&one.id, &other.id) != 0 &&
         (one.flags_extended & kStored) == (other.flags_extended & kStored);
}

}  // namespace

bool lists_same_entries(const fs::path& index, const fs::path& other) {
  start_libgit2();
  GitIndex one;
  GitIndex two;
  if (!open_index_file(one, index) || !open_index_file(two, other)) return false;
  const std::size_t count = git_index_entrycount(one.get());
  if (count != git_index_entrycount(two.get())) return false;
  for (std::size_t i = 0; i < count; ++i)
    if (!same_entry(*git_index_get_byindex(one.get(), i), *git_index_get_byindex(two.get(), i)))
      return false;
  return true;
}

FoundRepository find_repository(const fs::path& folder) {
  start_libgit2();
  FoundRepository found;
  found.place = find_git_place(folder);
  if (!found.place.toplevel.empty() && found.place.refused.empty()) open_at(found);
  return found;
}

std::string why_git_is_refused(const fs::path& folder) {
  return find_repository(folder).place.refused;
}

std::string head_commit(git_repository& repository) {
  git_oid id;
  const int result = git_reference_name_to_id(&id, &repository, "HEAD");
  if (result == GIT_ENOTFOUND) return "";
  check_git(result, "HEAD", ExitCode::environment);
  return id_text(id);
}

GitTree head_tree(git_repository& repository) {
  GitTree tree;
  const std::string commit = head_commit(repository);
  if (commit.empty()) return tree;
  GitObject object;
  const int result = git_revparse_single(GitOut(object), &repository, "HEAD^{tree}");
  if (result == GIT_ENOTFOUND || result == GIT_EINVALIDSPEC)
    throw Error("HEAD's tree, or its commit " + commit + ", is missing in the repository " +
                    path_text(git_repository_path(&repository)) +
                    ": `git fsck` says what is lost, and `git fetch` from a whole clone, or a "
                    "clone made anew, brings it back",
                ExitCode::environment);
  check_git(result, "HEAD's tree (`git fsck` says what is wrong)", ExitCode::environment);
  tree.reset(reinterpret_cast<git_tree*>(object.release()));
  return tree;
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
