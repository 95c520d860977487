#include "app/confinement/protected_paths.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <set>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/git/git_info.h"
#include "policies/sandbox/view/workspace_search.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestKeptName = 200;  ///< bytes; with an ending it fits NAME_MAX

Fd open_beneath(const Fd& folder, const std::string& name) {
  return Fd(::openat(folder.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

Error cannot_keep(const fs::path& path, int error) {
  return Error("the protected path " + path_text(path) +
                   " was changed, and can't be moved aside: " + errno_text(error) + "; it was left",
               ExitCode::integrity);
}

}  // namespace

void KeptAside::make_folder() {
  if (open_) return;
  std::string name = (tree_ / "sortie-kept-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw system_error("make a folder for what is kept in " + tree_.string(), ExitCode::integrity);
  folder_ = name;
  open_ = Fd(::open(name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!open_) throw system_error("open " + name, ExitCode::integrity);
  write_file(folder_ / ".gitignore", "*\n");
}

std::string KeptAside::free_name(const fs::path& path, const char* ending) const {
  std::string flat = path.string();
  std::replace(flat.begin(), flat.end(), '/', '-');
  if (flat.size() > kLongestKeptName) flat.erase(0, flat.size() - kLongestKeptName);
  std::string name = flat + ending;
  struct stat status {};
  for (int i = 2; ::fstatat(open_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0; ++i)
    name = flat + ending + '.' + std::to_string(i);
  return name;
}

bool KeptAside::move(const fs::path& path) {
  Fd folder(::open(tree_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const auto& part : path.parent_path())
    if (folder) folder = open_beneath(folder, part.string());
  if (!folder) {
    if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return false;
    throw cannot_keep(path, errno);
  }
  const std::string last = path.filename().string();
  struct stat status {};
  if (::fstatat(folder.get(), last.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
  make_folder();
  const std::string name = free_name(path, ".found");
  if (::renameat2(folder.get(), last.c_str(), open_.get(), name.c_str(), RENAME_NOREPLACE) == 0)
    return true;
  if (errno == ENOENT) return false;
  throw cannot_keep(path, errno);
}

fs::path KeptAside::place_for_start(const fs::path& path) {
  make_folder();
  return folder_ / free_name(path, ".start");
}

namespace {

constexpr std::uint64_t kAnySize = ~0ull;
constexpr const char* kIndex = ".git/index";

std::string content_of(const fs::path& path) {
  std::error_code error;
  if (fs::is_symlink(path, error)) return fs::read_symlink(path, error).string();
  return read_file(path, kAnySize);
}

/// Makes folders accessible, since one without permissions can't be removed.
void open_folders(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return;
  if ((status.st_mode & 0700) != 0700) ::chmod(path.c_str(), 0700);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path, error)) open_folders(entry.path());
}

void erase(const fs::path& path) {
  open_folders(path);
  fs::remove_all(path);
}

/// Sets the owner if this process may, then the mode, since chown(2) clears bits of it.
void copy_owner_and_mode(const fs::path& path, const struct stat& like) {
  if (::geteuid() == 0 && ::lchown(path.c_str(), like.st_uid, like.st_gid) != 0)
    throw system_error("chown " + path.string(), ExitCode::integrity);
  if (!S_ISLNK(like.st_mode)) ::chmod(path.c_str(), like.st_mode & 07777);
}

/// Copies files, folders and links; others, such as a socket of git's, are skipped.
void copy_entry(const fs::path& from, const fs::path& to) {
  struct stat status {};
  if (::lstat(from.c_str(), &status) != 0) return;
  if (S_ISDIR(status.st_mode)) {
    fs::create_directory(to);
    for (const auto& entry : fs::directory_iterator(from))
      copy_entry(entry.path(), to / entry.path().filename());
  } else if (S_ISLNK(status.st_mode)) {
    fs::copy_symlink(from, to);
  } else if (S_ISREG(status.st_mode)) {
    fs::copy_file(from, to);
  } else {
    return;
  }
  copy_owner_and_mode(to, status);
}

/// Makes sure that the parents of a path are real folders: a link instead would lead elsewhere.
/// @param aside  keeps what is in the way; null: it is erased
void make_parents(const fs::path& from, const fs::path& to, const fs::path& path,
                  KeptAside* aside = nullptr) {
  fs::path made;
  for (const auto& part : path.parent_path()) {
    made /= part;
    if (fs::is_directory(fs::symlink_status(to / made))) continue;
    if (aside != nullptr)
      aside->move(made);
    else
      erase(to / made);
    fs::create_directory(to / made);
    struct stat status {};
    if (::stat((from / made).c_str(), &status) == 0) copy_owner_and_mode(to / made, status);
  }
}

bool holds_a_folder_of(const std::set<std::string>& paths, const fs::path& path) {
  for (fs::path folder = path.parent_path(); !folder.empty(); folder = folder.parent_path())
    if (paths.count(folder.string()) != 0) return true;
  return false;
}

/// Whether the part of a repository can make git run programs, or read other files.
bool steers_git(const std::string& part) {
  static const std::set<std::string> kNames = {"config", "config.worktree", "hooks", "info",
                                               "commondir"};
  return kNames.count(part) != 0;
}

/// Whether every repository needs the part, so that no git command of the user removes it.
bool is_needed_by_git(const std::string& part) {
  static const std::set<std::string> kNames = {"HEAD", "index", "objects", "refs"};
  return kNames.count(part) != 0;
}

/// Whether a changed path is the repository's own content, which a commit or fetch of the user's
/// changes too.
/// @param gone  it is not there any more
bool is_content_of_git(const fs::path& path, bool gone) {
  auto part = path.begin();
  if (part == path.end() || *part != ".git" || ++part == path.end()) return false;
  if (gone && is_needed_by_git(part->string()) && std::next(part) == path.end()) return false;
  if (gone && *part == "objects") return false;  // a loose one more does no harm
  for (; part != path.end() && *part != "refs" && *part != "logs"; ++part)
    if (steers_git(part->string())) return false;
  return true;
}

std::vector<std::string> with_wildcards(const std::vector<std::string>& globs) {
  std::vector<std::string> some;
  std::copy_if(globs.begin(), globs.end(), std::back_inserter(some), has_wildcard);
  return some;
}

}  // namespace

ProtectedPaths::ProtectedPaths(fs::path tree, fs::path source, std::vector<std::string> globs)
    : tree_(std::move(tree)), source_(std::move(source)), matching_(tree_, with_wildcards(globs)) {
  for (auto& glob : globs)
    if (!has_wildcard(glob)) names_.push_back(std::move(glob));
  at_start_ = matching_.matches();
  start_ = stamps();
}

void ProtectedPaths::keep_by(std::function<void(const fs::path&)> keep) { keep_ = std::move(keep); }

const std::set<fs::path>& ProtectedPaths::links() {
  matching_.look();
  return matching_.links();
}

ProtectedPaths::Stamp ProtectedPaths::stamp_of(const struct stat& status) {
  // A folder's size and times change with a lock file in it that is gone again.
  if (S_ISDIR(status.st_mode)) return {.mode = status.st_mode};
  return {.mode = status.st_mode,
          .size = status.st_size,
          .inode = status.st_ino,
          .changed_ns = status.st_ctim.tv_sec * 1'000'000'000LL + status.st_ctim.tv_nsec};
}

std::vector<fs::path> ProtectedPaths::find() {
  matching_.look();
  std::set<fs::path> paths = matching_.matches();
  paths.insert(at_start_.begin(), at_start_.end());
  for (const auto& name : names_) {
    const fs::path path = fs::path(name).lexically_normal();
    if (path.is_relative() && *path.begin() != "..") paths.insert(path);
  }
  const std::vector<fs::path> names(paths.begin(), paths.end());
  for (auto& path : search_names(tree_, names)) paths.insert(std::move(path));
  return {paths.begin(), paths.end()};
}

ProtectedPaths::Stamps ProtectedPaths::stamps() {
  Stamps stamps;
  for (const auto& path : find()) add_stamps(path, stamps);
  return stamps;
}

void ProtectedPaths::add_stamps(const fs::path& path, Stamps& stamps) const {
  struct stat status {};
  if (::lstat((tree_ / path).c_str(), &status) != 0) return;
  stamps[path.string()] = stamp_of(status);
  if (!S_ISDIR(status.st_mode)) return;
  std::error_code error;  // a folder that a command closed differs by its mode
  for (const auto& entry : fs::directory_iterator(tree_ / path, error))
    add_stamps(path / entry.path().filename(), stamps);
}

bool ProtectedPaths::differs(const std::string& path, const Stamp& before, const Stamp& now) const {
  if (before == now) return false;
  if (before.mode != now.mode || before.size != now.size || S_ISDIR(now.mode)) return true;
  try {
    return content_of(tree_ / path) != content_of(source_ / path);
  } catch (const Error&) {
    return true;  // what can't be compared is not known to be the same
  }
}

void ProtectedPaths::put_back(const fs::path& path, KeptAside* aside) const {
  make_parents(source_, tree_, path, aside);
  if (aside != nullptr)
    aside->move(path);
  else
    erase(tree_ / path);
  copy_entry(source_ / path, tree_ / path);
}

void ProtectedPaths::keep_in(const fs::path& folder) {
  for (const auto& path : find()) {
    make_parents(tree_, folder, path);
    erase(folder / path);
    copy_entry(tree_ / path, folder / path);
  }
  source_ = folder;
}

/// Keeps what restoring would erase.
void ProtectedPaths::keep_changed(const std::set<std::string>& changed) const {
  if (!keep_) return;
  for (const auto& path : changed) {
    const bool in_repository = path.starts_with(".git/") && start_.count(".git") != 0;
    if (in_repository || holds_a_folder_of(changed, path)) continue;
    keep_(path);
  }
}

std::vector<std::string> ProtectedPaths::restore_changed() {
  const Stamps now = stamps();
  std::set<std::string> changed;
  std::set<std::string> refreshed;  // put back without a word
  for (const auto& [path, before] : start_) {
    const auto found = now.find(path);
    if (found != now.end() && !differs(path, before, found->second)) continue;
    const bool same =
        path == kIndex && found != now.end() && lists_same_entries(tree_ / path, source_ / path);
    (same ? refreshed : changed).insert(path);
  }
  for (const auto& [path, stamp] : now)
    if (start_.find(path) == start_.end()) changed.insert(path);
  if (changed.empty() && refreshed.empty()) return {};

  keep_changed(changed);
  try {
    for (const auto& path : changed)
      if (!holds_a_folder_of(changed, path)) put_back(path);
    for (const auto& path : refreshed) put_back(path);
  } catch (const fs::filesystem_error& error) {
    throw Error(std::string("a protected path was changed, and can't be put back: ") + error.what(),
                ExitCode::integrity);
  }
  start_ = stamps();
  return {changed.begin(), changed.end()};
}

/// Restores the modes of folders first: the content of a closed one would look deleted.
ProtectedPaths::Stamps ProtectedPaths::reopen_folders(std::set<std::string>& changed) {
  for (;;) {
    Stamps now = stamps();
    bool again = false;
    for (const auto& [path, before] : start_) {
      const auto found = now.find(path);
      if (found == now.end() || !S_ISDIR(before.mode) || !S_ISDIR(found->second.mode)) continue;
      if (before == found->second || !changed.insert(path).second) continue;
      ::chmod((tree_ / path).c_str(), before.mode & 07777);
      again = true;
    }
    if (!again) return now;
  }
}

void ProtectedPaths::copy_start(const fs::path& path, KeptAside& aside) const {
  copy_entry(source_ / path, aside.place_for_start(path));
}

ProtectedPaths::Restored ProtectedPaths::restore_and_keep(KeptAside& aside) {
  std::set<std::string> reopened;
  std::set<std::string> left;
  std::set<std::string> whole;  // put back from the copy
  const Stamps now = reopen_folders(reopened);
  for (const auto& [path, before] : start_) {
    const auto found = now.find(path);
    const bool gone = found == now.end();
    if (!gone && (!differs(path, before, found->second) || reopened.count(path) != 0)) continue;
    if (!gone && path == kIndex && lists_same_entries(tree_ / path, source_ / path)) continue;
    (is_content_of_git(path, gone) ? left : whole).insert(path);
  }
  for (const auto& [path, stamp] : now)
    if (start_.find(path) == start_.end())
      (is_content_of_git(path, false) ? left : whole).insert(path);

  try {
    for (const auto& path : whole)
      if (!holds_a_folder_of(whole, path)) put_back(path, &aside);
    for (const auto& path : left)
      if (start_.count(path) != 0 && !holds_a_folder_of(whole, path) &&
          !holds_a_folder_of(left, path))
        copy_start(path, aside);
  } catch (const fs::filesystem_error& error) {
    throw Error(std::string("a protected path was changed, and can't be put back: ") + error.what(),
                ExitCode::integrity);
  }
  std::erase_if(left, [&](const auto& path) { return holds_a_folder_of(whole, path); });
  const std::string objects = ".git/objects/";  // their names tell nobody anything
  if (std::erase_if(left, [&](const auto& path) { return path.starts_with(objects); }) > 0)
    left.insert(".git/objects");
  whole.merge(reopened);
  start_ = stamps();
  return {{whole.begin(), whole.end()}, {left.begin(), left.end()}};
}

}  // namespace sortie
