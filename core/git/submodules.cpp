#include "core/git/submodules.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/git/git_repository.h"
#include "core/text/text.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

constexpr int kDeepestSubmodule = 16;
constexpr unsigned kLinkToCommit = 0160000;

/// The paths of the commits that a repository's index links to, or those of HEAD.
std::vector<std::string> linked_commits(const FoundRepository& found) {
  std::vector<std::string> paths;
  const fs::path file = found.place.git_dir / "index";
  std::error_code error;
  GitIndex index;
  give_readable_index(*found.handle, file);
  if (fs::exists(file, error) && git_repository_index(GitOut(index), found.handle.get()) == 0) {
    for (std::size_t i = 0; i < git_index_entrycount(index.get()); ++i)
      if (const auto* entry = git_index_get_byindex(index.get(), i); entry->mode == kLinkToCommit)
        paths.emplace_back(entry->path);
    return paths;
  }
  const GitTree head = head_tree(*found.handle);
  if (!head) return paths;
  const auto take = [](const char* folder, const git_tree_entry* one, void* list) {
    if (git_tree_entry_filemode_raw(one) == static_cast<git_filemode_t>(kLinkToCommit))
      static_cast<std::vector<std::string>*>(list)->push_back(std::string(folder) +
                                                              git_tree_entry_name(one));
    return 0;
  };
  check_git(git_tree_walk(head.get(), GIT_TREEWALK_PRE, take, &paths), "HEAD's submodules",
            ExitCode::environment);
  return paths;
}

/// Looks at what stands at a submodule's path. A link on the way leads to some other repository.
Submodule look_at(const fs::path& place, std::string path) {
  Submodule one{.path = std::move(path)};
  std::error_code error;
  if (fs::canonical(place, error) != place || error) return one;
  if (!fs::exists(fs::symlink_status(place / ".git", error))) return one;
  try {
    const FoundRepository own = find_repository(place);
    one.checked_out = own.handle && own.toplevel == place;
    if (!one.checked_out) one.refused = own.place.refused;
  } catch (const Error& problem) {
    one.refused = problem.what();
  }
  return one;
}

void collect(const fs::path& folder, const std::string& above, int depth,
             std::map<std::string, Submodule>& found) {
  const FoundRepository repository = find_repository(folder);
  if (!repository.handle) return;
  const std::string prefix = prefix_in(repository.toplevel, folder);
  for (const std::string& linked : linked_commits(repository)) {
    if (!linked.starts_with(prefix) || linked.size() == prefix.size()) continue;
    const std::string path = linked.substr(prefix.size());
    Submodule one = look_at(folder / path, above + path);
    const bool enter = one.checked_out && depth < kDeepestSubmodule;
    const std::string name = one.path;
    if (!found.emplace(name, std::move(one)).second || !enter) continue;
    collect(folder / path, name + "/", depth + 1, found);
  }
}

bool has_wildcard_of_git(const std::string& text) {
  return text.find_first_of("*?[\\") != std::string::npos;
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

/// The submodules that one entry of the list names.
std::vector<Submodule> named_by(const std::string& entry, const std::vector<Submodule>& all) {
  std::vector<Submodule> named;
  if (!has_wildcard_of_git(entry)) {
    const std::string path = without_slash(entry);
    for (const Submodule& one : all)
      if (one.path == path) named.push_back(one);
    return named;
  }
  GitPathspec pattern;
  char* text = const_cast<char*>(entry.c_str());
  const git_strarray list{&text, 1};
  check_git(git_pathspec_new(GitOut(pattern), &list), "output.diff.submodules", ExitCode::usage);
  for (const Submodule& one : all)
    if (git_pathspec_matches_path(pattern.get(), GIT_PATHSPEC_USE_CASE, one.path.c_str()))
      named.push_back(one);
  return named;
}

std::string no_such(const std::string& entry, const std::vector<Submodule>& all) {
  std::vector<std::string> names;
  for (const Submodule& one : all) names.push_back(one.path);
  const std::string nearest = nearest_name(entry, names);
  return "output.diff.submodules: " + path_text(entry) +
         (has_wildcard_of_git(entry) ? " names no submodule" : " is no submodule") +
         " of the workspace" +
         (!nearest.empty() ? "; did you mean " + path_text(nearest) + "?"
          : names.empty()  ? ", which has none"
                           : "; it has " + some_of(names));
}

}  // namespace

std::vector<Submodule> find_submodules(const fs::path& folder) {
  start_libgit2();
  std::map<std::string, Submodule> found;
  collect(folder, "", 0, found);
  std::vector<Submodule> all;
  for (auto& [path, one] : found) all.push_back(std::move(one));
  return all;
}

std::vector<Submodule> listed_submodules(const fs::path& folder,
                                         const std::vector<std::string>& list) {
  if (list.empty()) return {};
  const std::vector<Submodule> all = find_submodules(folder);
  std::map<std::string, Submodule> listed;
  for (const std::string& entry : list) {
    const std::vector<Submodule> named = named_by(entry, all);
    if (named.empty()) throw Error(no_such(entry, all), ExitCode::usage);
    for (const Submodule& one : named) {
      if (!one.refused.empty())
        throw Error("output.diff.submodules: the repository of " + path_text(one.path) +
                        " is not used: " + one.refused,
                    ExitCode::environment);
      if (one.checked_out)
        listed.emplace(one.path, one);
      else if (!has_wildcard_of_git(entry))
        throw Error("output.diff.submodules: " + path_text(one.path) +
                        " is not checked out; `git submodule update --init " + path_text(one.path) +
                        "` does that",
                    ExitCode::usage);
    }
  }
  std::vector<Submodule> found;
  for (auto& [path, one] : listed) found.push_back(std::move(one));
  return found;
}

}  // namespace sortie
