#include "core/workspace/start_state.h"

#include <git2/sys/repository.h>

#include <utility>

#include "core/base/file_name.h"
#include "core/workspace/rule_files.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

/// A repository in memory whose working tree is the folder: libgit2's ignore rules need one.
GitRepository repository_for_rules(const fs::path& root) {
  GitRepository repository;
  check_git(git_repository_new(GitOut(repository)), "ignore rules");
  GitConfig config;
  check_git(git_config_new(GitOut(config)), "ignore rules");
  check_git(git_repository_set_config(repository.get(), config.get()), "ignore rules");
  check_git(git_repository_set_workdir(repository.get(), root.c_str(), 0), "ignore rules");
  return repository;
}

void refuse_blocking(git_repository* repository, const std::string& path, const char* name) {
  const char* const toplevel = git_repository_workdir(repository);
  if (toplevel == nullptr) return;
  if (const auto file = blocking_rule_file(toplevel, path, name); !file.empty())
    throw Error(path_text(file) + ": is no regular file, and git would wait for it",
                ExitCode::environment);
}

unsigned canonical_mode(unsigned mode) {
  if ((mode & 0170000) != 0100000) return mode;
  return (mode & 0100) != 0 ? 0100755 : 0100644;
}

}  // namespace

StartState::StartState(const fs::path& root) {
  FoundRepository found = find_repository(root);
  has_repository_ = found.handle != nullptr;
  if (!has_repository_) {
    repository_ = repository_for_rules(root);
    return;
  }
  repository_ = std::move(found.handle);
  if (root != found.toplevel) prefix_ = root.lexically_relative(found.toplevel).native() + "/";
  head_commit_ = sortie::head_commit(*repository_);
  if (!head_commit_.empty()) {
    GitObject tree;
    check_git(git_revparse_single(GitOut(tree), repository_.get(), "HEAD^{tree}"), "HEAD's tree",
              ExitCode::environment);
    head_.reset(reinterpret_cast<git_tree*>(tree.release()));
  }
}

/// The repository's index, or nothing.
git_index* StartState::index() const {
  if (has_repository_ && !std::exchange(index_read_, true) &&
      git_repository_index(GitOut(index_), repository_.get()) < 0)
    do_without_index();
  return index_.get();
}

/// A split or sparse index is of a kind that libgit2 does not know, and one can be damaged: HEAD
/// stands in for it. An empty one takes its place where rules and attributes are looked up, which
/// would fail at each path.
void StartState::do_without_index() const {
  const git_error* error = git_error_last();
  index_problem_ = error != nullptr && error->message != nullptr ? error->message : "unknown cause";
  index_.reset();
  GitIndex empty;
  check_git(git_index_new(GitOut(empty)), "index");
  check_git(git_repository_set_index(repository_.get(), empty.get()), "index");
}

std::optional<StartState::Listed> StartState::in_head(const std::string& path) const {
  if (!head_) return std::nullopt;
  GitTreeEntry entry;
  const int result = git_tree_entry_bypath(GitOut(entry), head_.get(), path.c_str());
  if (result == GIT_ENOTFOUND) return std::nullopt;
  check_git(result, "HEAD: " + path_text(path), ExitCode::task_failed);
  const unsigned mode = git_tree_entry_filemode_raw(entry.get());
  if ((mode & 0170000) == 0040000) return std::nullopt;
  return Listed{*git_tree_entry_id(entry.get()), canonical_mode(mode)};
}

std::optional<StartState::Listed> StartState::in_index(const std::string& path) const {
  if (!has_index()) return std::nullopt;
  const git_index_entry* entry = git_index_get_bypath(index(), path.c_str(), 0);
  // Looked up without regard to case where the repository says so; here names are bytes.
  if (entry == nullptr || path != entry->path) return std::nullopt;
  return Listed{entry->id, canonical_mode(entry->mode)};
}

bool StartState::tracked(const std::string& path) const {
  const std::string name = in_repository(path);
  return (has_index() ? in_index(name) : in_head(name)).has_value();
}

bool StartState::ignored(const std::string& path) const {
  refuse_blocking(repository_.get(), in_repository(path), ".gitignore");
  index();  // the rules are looked up in it as well
  int ignored = 0;
  const int result =
      git_ignore_path_is_ignored(&ignored, repository_.get(), in_repository(path).c_str());
  check_git(result, "ignore rules: " + path_text(path));
  return ignored != 0;
}

bool StartState::lfs(const std::string& path) const {
  if (!has_repository_) return false;
  refuse_blocking(repository_.get(), in_repository(path), ".gitattributes");
  index();
  const char* value = nullptr;
  check_git(git_attr_get(&value, repository_.get(), GIT_ATTR_CHECK_FILE_THEN_INDEX,
                         in_repository(path).c_str(), "filter"),
            "attributes: " + path_text(path));
  return git_attr_value(value) == GIT_ATTR_VALUE_STRING && std::string(value) == "lfs";
}

std::string StartState::submodule(const std::string& path) const {
  if (!has_repository_) return "";
  for (auto end = path.find('/');; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    const auto listed = has_index() ? in_index(in_repository(part)) : in_head(in_repository(part));
    if (listed && (listed->mode & 0170000) == 0160000) return part;
    if (end == std::string::npos) return "";
  }
}

std::optional<TreeEntry> StartState::head_entry(const std::string& path) const {
  const auto listed = in_head(in_repository(path));
  if (!listed) return std::nullopt;
  GitBlob blob;
  check_git(git_blob_lookup(GitOut(blob), repository_.get(), &listed->id),
            "HEAD's " + path_text(path), ExitCode::task_failed);
  const auto size = static_cast<std::size_t>(git_blob_rawsize(blob.get()));
  return TreeEntry{listed->mode,
                   std::string(static_cast<const char*>(git_blob_rawcontent(blob.get())), size)};
}

bool StartState::same(const std::optional<Listed>& listed, const std::optional<TreeEntry>& entry) {
  if (!listed || !entry) return listed.has_value() == entry.has_value();
  git_oid id;
  check_git(git_odb_hash(&id, entry->content.data(), entry->content.size(), GIT_OBJECT_BLOB),
            "hash");
  return listed->mode == entry->mode && git_oid_equal(&id, &listed->id) != 0;
}

bool StartState::head_has(const std::string& path, const std::optional<TreeEntry>& entry) const {
  return same(in_head(in_repository(path)), entry);
}

bool StartState::index_has(const std::string& path, const std::optional<TreeEntry>& entry) const {
  return same(in_index(in_repository(path)), entry);
}

}  // namespace sortie
