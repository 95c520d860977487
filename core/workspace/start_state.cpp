#include "core/workspace/start_state.h"

#include <fcntl.h>
#include <git2/sys/repository.h>
#include <sys/stat.h>

#include <cstring>
#include <utility>

#include "core/files/file_name.h"
#include "core/git/config/rule_files.h"
#include "core/git/git_repository.h"
#include "core/git/object_folders.h"
#include "core/git/read_index.h"
#include "core/git/stored_bytes.h"
#include "core/workspace/file_stamp.h"
#include "core/workspace/start_record.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

void refuse_blocking(const fs::path& toplevel, const std::string& path, const char* name) {
  if (const auto file = blocking_rule_file(toplevel, path, name); !file.empty())
    throw Error(path_text(file) + ": not a regular file, and git would block on it",
                ExitCode::environment);
}

unsigned canonical_mode(unsigned mode) {
  if ((mode & 0170000) != 0100000) return mode;
  return (mode & 0100) != 0 ? 0100755 : 0100644;
}

}  // namespace

StartState::StartState(const StartRecord& record, const fs::path& root)
    : record_(record), root_(root), has_repository_(record.has_repository) {
  start_libgit2();
  const std::string step = "the record of the start in " + path_text(record.folder);
  check_git(git_repository_open_ext(GitOut(repository_), record.folder.c_str(),
                                    GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr),
            step, ExitCode::environment);
  prefix_ = prefix_in(record.toplevel, root);
  if (!has_repository_) return;
  GitOdb objects;
  check_git(git_repository_odb(GitOut(objects), repository_.get()), step, ExitCode::environment);
  for (const fs::path& folder : record.objects) add_objects(*objects, folder, step);
  head_commit_ = sortie::head_commit(*repository_);
  head_ = head_tree(*repository_);
}

/// The repository's index, or null.
const IndexFile* StartState::index() const {
  if (has_repository_ && !std::exchange(index_read_, true)) read_index();
  return index_.get();
}

/// libgit2 gets the rules of an index that can be read without it: reading all of it would take as
/// long as all else at the end of a run in a large tree.
void StartState::read_index() const {
  const fs::path file = record_.folder / ".git/index";
  std::error_code error;
  if (head_ && !fs::exists(file, error)) return do_without_index("there is none");
  index_ = record_.index->open(file);
  if (index_) {
    libgit2_index_ = rules_of(*index_);
    check_git(git_repository_set_index(repository_.get(), libgit2_index_.get()), "index");
    return;
  }
  give_readable_index(*repository_, file);
  GitIndex index;
  if (git_repository_index(GitOut(index), repository_.get()) < 0) {
    const git_error* failure = git_error_last();
    return do_without_index(failure != nullptr && failure->message != nullptr ? failure->message
                                                                              : "unknown cause");
  }
  index_ = std::make_shared<const IndexFile>(index_of(*index));
}

/// HEAD replaces an index that is split or sparse, which libgit2 does not support, damaged, or
/// missing (a clone without checkout). Rules and attributes are looked up with an empty index,
/// since each lookup would fail otherwise.
void StartState::do_without_index(const std::string& problem) const {
  index_problem_ = problem;
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
  const auto entry = index()->find(path);
  if (!entry) return std::nullopt;
  Listed listed{{}, canonical_mode(entry->mode)};
  std::memcpy(listed.id.id, entry->id.data(), entry->id.size());
  return listed;
}

bool StartState::tracked(const std::string& path) const {
  const std::string name = in_repository(path);
  return (has_index() ? in_index(name) : in_head(name)).has_value();
}

/// The content of a regular file in the start's index or HEAD; "" for none.
std::string StartState::listed_text(const std::string& repository_path) const {
  const auto listed = has_index() ? in_index(repository_path) : in_head(repository_path);
  GitBlob blob;
  if (!listed || (listed->mode & 0170000) != 0100000 ||
      git_blob_lookup(GitOut(blob), repository_.get(), &listed->id) < 0)
    return "";
  return blob_text(blob);
}

/// Nothing if the user's tree had no such file at the start.
std::optional<std::string> StartState::rules_at_start(const fs::path& folder,
                                                      const char* name) const {
  struct stat status {};
  const fs::path file = record_.toplevel / folder / name;
  if (::stat(file.c_str(), &status) == 0) {
    if (stamp_of(status).ctime <= record_.began) return read_rule_file(file);
    return listed_text((folder / name).native());
  }
  // Removed since the start, or never there: its folder shows which, or the nearest existing one.
  for (fs::path at = file.parent_path();; at = at.parent_path()) {
    if (::lstat(at.c_str(), &status) != 0 && at != at.parent_path()) continue;
    if (stamp_of(status).ctime <= record_.began) return std::nullopt;
    return listed_text((folder / name).native());
  }
}

/// Adds the rule files on the way to a path to the record, each once in a run.
void StartState::add_rules(const std::string& path, const char* name) const {
  fs::path folder;
  for (const fs::path& part : fs::path(in_repository(path))) {
    const fs::path file = folder / name;
    std::error_code error;
    if (added_.insert(file).second && !fs::exists(record_.folder / file, error)) {
      if (const auto rules = rules_at_start(folder, name); rules && !rules->empty()) {
        fs::create_directories(record_.folder / folder, error);
        write_rules(record_.folder / file, *rules);
      }
    }
    folder /= part;
  }
}

bool StartState::ignored(const std::string& path) const {
  refuse_blocking(record_.toplevel, in_repository(path), ".gitignore");
  add_rules(path, ".gitignore");
  index();  // rules are looked up in it, too
  int ignored = 0;
  const int result =
      git_ignore_path_is_ignored(&ignored, repository_.get(), in_repository(path).c_str());
  check_git(result, "ignore rules: " + path_text(path));
  return ignored != 0;
}

void StartState::prepare_attributes(const std::string& path) const {
  refuse_blocking(record_.toplevel, in_repository(path), ".gitattributes");
  add_rules(path, ".gitattributes");
  index();  // attributes are looked up in it, too
}

std::string StartState::filter(const std::string& path) const {
  if (!has_repository_) return "";
  prepare_attributes(path);
  return attribute_value(*repository_, in_repository(path), "filter");
}

std::string StartState::to_git(const std::string& path, const std::string& content) const {
  if (!has_repository_) return content;
  prepare_attributes(path);
  // Whether line ends are converted depends on what is listed, too.
  if (libgit2_index_) add_entries(*libgit2_index_, *index_, in_repository(path));
  return stored_bytes(*repository_, in_repository(path), content);
}

bool StartState::may_convert(const std::string& path) const {
  if (!has_repository_) return false;
  prepare_attributes(path);
  return sortie::may_convert(*repository_, in_repository(path));
}

std::string StartState::to_tree(const std::string& path, const std::string& content) const {
  if (!has_repository_) return content;
  prepare_attributes(path);
  return tree_bytes(*repository_, in_repository(path), content);
}

bool StartState::converts_text(const std::string& path) const {
  if (!has_repository_) return false;
  prepare_attributes(path);
  return sortie::converts_text(*repository_, in_repository(path));
}

bool StartState::lfs(const std::string& path) const { return filter(path) == "lfs"; }

std::string StartState::submodule(const std::string& path) const {
  if (!has_repository_) return "";
  for (auto end = path.find('/');; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    for (const auto& listed : {in_index(in_repository(part)), in_head(in_repository(part))})
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
  return TreeEntry{listed->mode, blob_text(blob)};
}

bool StartState::head_lacks_object(const std::string& path) const {
  const auto listed = in_head(in_repository(path));
  if (!listed || (listed->mode & 0170000) == 0160000) return false;
  GitOdb objects;
  check_git(git_repository_odb(GitOut(objects), repository_.get()), "objects");
  return git_odb_exists(objects.get(), &listed->id) == 0;
}

bool StartState::same(const std::optional<Listed>& listed, const TreeEntry* entry) {
  if (!listed || !entry) return listed.has_value() == (entry != nullptr);
  const git_oid id = blob_id(entry->content);
  return listed->mode == entry->mode && git_oid_equal(&id, &listed->id) != 0;
}

bool StartState::head_has_folder(const std::string& path) const {
  if (!head_) return false;
  GitTreeEntry entry;
  const int found = git_tree_entry_bypath(GitOut(entry), head_.get(), in_repository(path).c_str());
  return found == 0 && git_tree_entry_type(entry.get()) == GIT_OBJECT_TREE;
}

std::size_t StartState::head_files_below(const std::string& path) const {
  GitTreeEntry entry;
  if (!head_has_folder(path) ||
      git_tree_entry_bypath(GitOut(entry), head_.get(), in_repository(path).c_str()) != 0)
    return 0;
  const std::string step = "HEAD's " + path_text(path);
  GitTree folder;
  check_git(git_tree_lookup(GitOut(folder), repository_.get(), git_tree_entry_id(entry.get())),
            step, ExitCode::task_failed);
  std::size_t files = 0;
  const auto count = [](const char*, const git_tree_entry* one, void* sum) {
    *static_cast<std::size_t*>(sum) += git_tree_entry_type(one) == GIT_OBJECT_TREE ? 0 : 1;
    return 0;
  };
  check_git(git_tree_walk(folder.get(), GIT_TREEWALK_PRE, count, &files), step,
            ExitCode::task_failed);
  return files;
}

std::size_t StartState::index_files_below(const std::string& path) const {
  if (!has_index()) return 0;
  const std::string folder = in_repository(path) + "/";
  const std::size_t first = index()->lower_bound(folder);
  std::size_t at = first;
  while (at < index()->size() && index()->path(at).starts_with(folder)) ++at;
  return at - first;
}

std::optional<std::vector<std::string>> StartState::index_links() const {
  if (!has_index()) return std::nullopt;
  std::vector<std::string> links;
  for (std::size_t at = index()->lower_bound(prefix_); at < index()->size(); ++at) {
    const IndexEntry entry = index()->entry(at);
    if (!entry.path.starts_with(prefix_)) break;
    if (canonical_mode(entry.mode) == 0120000)
      links.emplace_back(entry.path.substr(prefix_.size()));
  }
  return links;
}

bool StartState::is_as_indexed(const std::string& path, const TreeEntry& now) const {
  if (!has_index() || !index_has(path, &now)) return false;
  const auto entry = index()->find(in_repository(path));
  struct stat status {};
  const auto birth = birth_of(AT_FDCWD, root_ / path);
  return birth && *birth <= record_.began && entry->inode != 0 &&
         ::lstat((root_ / path).c_str(), &status) == 0 &&
         entry->inode == static_cast<std::uint32_t>(status.st_ino);
}

bool StartState::head_has(const std::string& path, const TreeEntry* entry) const {
  return same(in_head(in_repository(path)), entry);
}

bool StartState::index_has(const std::string& path, const TreeEntry* entry) const {
  return same(in_index(in_repository(path)), entry);
}

}  // namespace sortie
