#include "core/git/git_info.h"

#include <string_view>

#include "core/git/config/git_place.h"
#include "core/git/git_repository.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

std::string branch_name(git_repository& repository) {
  GitReference head;
  // HEAD is not followed: it names the branch even before the first commit.
  if (git_reference_lookup(GitOut(head), &repository, "HEAD") < 0) return "";
  const char* target = git_reference_symbolic_target(head.get());
  const std::string name = target != nullptr ? target : "";
  const std::string prefix = "refs/heads/";
  return name.compare(0, prefix.size(), prefix) == 0 ? name.substr(prefix.size()) : "";
}

bool same_entry(const git_index_entry& one, const git_index_entry& other) {
  // Only those extended flags that are stored.
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

std::string why_git_is_refused(const fs::path& folder) {
  return look_at_repository(folder)->place.refused;
}

std::optional<GitInfo> read_git_info(const fs::path& folder) {
  const auto found = look_at_repository(folder);
  if (!found->handle) return std::nullopt;
  fs::path git_dir = git_repository_path(found->handle.get());
  if (!git_dir.has_filename()) git_dir = git_dir.parent_path();  // drop the slash at the end
  return GitInfo{.toplevel = found->toplevel,
                 .git_dir = git_dir,
                 .head_commit = head_commit(*found->handle),
                 .branch = branch_name(*found->handle)};
}

}  // namespace sortie
