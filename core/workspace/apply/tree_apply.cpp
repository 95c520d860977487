#include "core/workspace/apply/tree_apply.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/files/new_file_mode.h"
#include "core/workspace/apply/present_entry.h"
#include "core/workspace/apply/roll_back.h"

namespace sortie {
namespace {

constexpr unsigned kSymlink = 0120000;
constexpr unsigned kProgram = 0100755;
constexpr std::size_t kManyFolders = 200;  ///< from here on, one syncfs(2) is cheaper

[[noreturn]] void fail(const std::string& path, int number) {
  // What stands in the way now was not there when the changes were planned.
  const bool moved_on = number == ENOTDIR || number == EISDIR || number == ENOTEMPTY ||
                        number == EEXIST || number == ELOOP || number == ENOENT;
  if (moved_on)
    throw Error(path_text(path) + ": has changed meanwhile: " + errno_text(number),
                ExitCode::conflict);
  throw Error(path_text(path) + ": " +
                  (number == EXDEV ? "lies on another file system than the tree's folder"
                                   : errno_text(number)),
              ExitCode::environment);
}

void check(const std::string& path, int result) {
  if (result != 0) fail(path, errno);
}

/// The executable bits follow the readable ones, as the umask would have it.
mode_t with_program_bits(mode_t mode, bool program) {
  return program ? mode | (mode & 0444) >> 2 : mode & ~static_cast<mode_t>(0111);
}

mode_t permissions_of(const PathChange& change) {
  const bool program = change.after->mode == kProgram;
  if (!change.before || !S_ISREG(change.status.st_mode))
    return with_program_bits(new_file_mode(), program);
  const mode_t own = change.status.st_mode & 0777;
  return ((own & S_IXUSR) != 0) == program ? own : with_program_bits(own, program);
}

bool is_same_file(const struct stat& one, const struct stat& other) {
  return one.st_ino == other.st_ino && one.st_dev == other.st_dev && one.st_size == other.st_size &&
         one.st_mtim.tv_sec == other.st_mtim.tv_sec && one.st_mtim.tv_nsec == other.st_mtim.tv_nsec;
}

/// The folders above a path, the topmost first.
std::vector<std::string> folders_above(const std::string& path) {
  std::vector<std::string> folders;
  for (auto slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1))
    folders.push_back(path.substr(0, slash));
  return folders;
}

/// Writes a file of the folder, with owner and mode, and syncs it.
void write_synced(int folder, const std::string& name, const std::string& content,
                  const struct stat& owner, mode_t mode, const std::string& path) {
  const Fd file(
      ::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) fail(path, errno);
  if (!write_all(file.get(), content)) fail(path, errno);
  if (::geteuid() == 0) check(path, ::fchown(file.get(), owner.st_uid, owner.st_gid));
  check(path, ::fchmod(file.get(), mode));
  check(path, ::fsync(file.get()));
}

void write_link(int folder, const std::string& name, const std::string& target,
                const struct stat& owner, const std::string& path) {
  check(path, ::symlinkat(target.c_str(), folder, name.c_str()));
  if (::geteuid() == 0)
    check(path, ::fchownat(folder, name.c_str(), owner.st_uid, owner.st_gid, AT_SYMLINK_NOFOLLOW));
}

struct stat status_in(int folder, const std::string& name, const std::string& path) {
  struct stat status {};
  check(path, ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW));
  return status;
}

}  // namespace

TreeApply::TreeApply(int root, const std::vector<PathChange>& changes, const ApplyMark& mark)
    : root_(root), folder_(ApplyFolder::make(root, mark)) {
  try {
    lay_ready(changes);
  } catch (...) {
    done_ = true;
    folder_.remove();
    throw;
  }
}

TreeApply::~TreeApply() {
  if (done_) return;
  try {
    undo();
  } catch (const std::exception&) {
    // The journal is there: the next start undoes it.
  }
}

void TreeApply::lay_ready(const std::vector<PathChange>& changes) {
  std::vector<JournalChange> entries;
  entries.reserve(changes.size());
  old_.resize(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) entries.push_back(lay_ready_one(changes[i], i));
  folder_.write_ready(std::move(entries));
}

JournalChange TreeApply::lay_ready_one(const PathChange& change, std::size_t number) {
  JournalChange entry{.path = change.path};
  if (change.before) entry.old = keep_old(change, number);
  plan_folders(change, entry);
  if (change.after) entry.made = lay_new(change, number);
  return entry;
}

/// A hard link needs no room, and gives the same file back.
JournalChange::Old TreeApply::keep_old(const PathChange& change, std::size_t number) {
  const std::string name = folder_and_name(change.path).second;
  const Fd above = open_above(change.path);
  const std::string kept = name_in_folder("old", number);
  if (!is_same_file(status_in(above.get(), name, change.path), change.status))
    fail(change.path, ENOENT);
  if (::linkat(above.get(), name.c_str(), folder_.get(), kept.c_str(), 0) != 0) {
    // Not every file system has hard links, and not every file may be linked (proc(5),
    // protected_hardlinks). One on another file system can't be switched either.
    if (errno == EXDEV || errno == ENOENT) fail(change.path, errno);
    if (change.before->mode == kSymlink)
      write_link(folder_.get(), kept, change.before->content, change.status, change.path);
    else
      write_synced(folder_.get(), kept, change.before->content, change.status,
                   change.status.st_mode & 07777, change.path);
  }
  old_[number] = status_in(above.get(), name, change.path);
  return {old_[number].st_ino, status_in(folder_.get(), kept, change.path).st_ino};
}

JournalChange::New TreeApply::lay_new(const PathChange& change, std::size_t number) {
  const std::string name = name_in_folder("new", number);
  struct stat owner = change.status;
  if (!change.before) {
    // Of the nearest folder that is there.
    Fd folder = open_real_folder(root_, "", O_PATH);
    for (const std::string& above : folders_above(change.path)) {
      Fd next = open_real_folder(root_, above, O_PATH);
      if (!next) break;
      folder = std::move(next);
    }
    check(change.path, ::fstat(folder.get(), &owner));
  }
  if (change.after->mode == kSymlink)
    write_link(folder_.get(), name, change.after->content, owner, change.path);
  else
    write_synced(folder_.get(), name, change.after->content, owner, permissions_of(change),
                 change.path);
  const struct stat made = status_in(folder_.get(), name, change.path);
  if (made.st_dev != owner.st_dev) fail(change.path, EXDEV);
  return {made.st_ino, sha256_hex(change.after->content)};
}

/// Which folders may go with the path, and which have to be made for it.
void TreeApply::plan_folders(const PathChange& change, JournalChange& entry) {
  for (const std::string& path : folders_above(change.path)) {
    const Fd folder = open_real_folder(root_, path, O_PATH);
    struct stat status {};
    if (folder && ::fstat(folder.get(), &status) == 0)
      entry.folders.push_back(
          {path, static_cast<mode_t>(status.st_mode & 07777), status.st_uid, status.st_gid});
    else if (change.after)
      entry.new_folders.push_back(path);
  }
  // An empty folder in the place of a new file.
  struct stat status {};
  const Fd there = change.before ? Fd() : open_real_folder(root_, change.path, O_PATH);
  if (there && ::fstat(there.get(), &status) == 0)
    entry.folders.push_back(
        {change.path, static_cast<mode_t>(status.st_mode & 07777), status.st_uid, status.st_gid});
}

Fd TreeApply::open_above(const std::string& path) const {
  Fd above = open_real_folder(root_, folder_and_name(path).first, O_PATH);
  if (!above) fail(path, errno);
  return above;
}

void TreeApply::perform() {
  try {
    switch_all();
    sync_folders();
  } catch (const Error& error) {
    std::string left;
    for (const std::string& one : undo()) left += (left.empty() ? "" : "; ") + one;
    throw Error(std::string(error.what()) +
                    (left.empty() ? "; no file was changed" : "; not as it was: " + left),
                error.code());
  }
}

/// What goes, goes first: a file may be in the place of a folder, or a folder in that of a file.
void TreeApply::switch_all() {
  const auto& changes = folder_.journal().changes;
  for (std::size_t i = 0; i < changes.size(); ++i)
    if (!changes[i].made) remove_one(i);
  for (const JournalChange& change : changes)
    if (!change.made) remove_empty_folders(change.path);
  for (std::size_t i = 0; i < changes.size(); ++i)
    if (changes[i].made) make_one(i);
}

void TreeApply::remove_one(std::size_t number) {
  const std::string& path = folder_.journal().changes[number].path;
  const std::string name = folder_and_name(path).second;
  const Fd above = open_above(path);
  if (!is_same_file(status_in(above.get(), name, path), old_[number])) fail(path, ENOENT);
  check(path, ::unlinkat(above.get(), name.c_str(), 0));
}

bool TreeApply::is_needed(const std::string& folder) const {
  const auto& changes = folder_.journal().changes;
  // Sorted by path: what is below the folder follows its name with a slash.
  const auto below = std::lower_bound(
      changes.begin(), changes.end(), folder + "/",
      [](const JournalChange& change, const std::string& path) { return change.path < path; });
  for (auto one = below; one != changes.end() && one->path.starts_with(folder + "/"); ++one)
    if (one->made) return true;
  return false;
}

void TreeApply::remove_empty_folders(const std::string& path) {
  std::vector<std::string> folders = folders_above(path);
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
    if (is_needed(*folder)) return;
    const auto [above, name] = folder_and_name(*folder);
    const Fd parent = open_real_folder(root_, above, O_PATH);
    if (!parent) continue;  // removed already
    if (::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) return;
  }
}

void TreeApply::make_one(std::size_t number) {
  const JournalChange& change = folder_.journal().changes[number];
  const std::string name = folder_and_name(change.path).second;
  for (const std::string& path : change.new_folders) {
    const auto [above, folder] = folder_and_name(path);
    const Fd parent = open_real_folder(root_, above, O_PATH);
    if (!parent) fail(change.path, errno);
    if (::mkdirat(parent.get(), folder.c_str(), 0777) != 0) {
      if (errno != EEXIST) fail(change.path, errno);
      continue;
    }
    struct stat owner {};
    const Fd made = open_real_folder(parent.get(), folder, O_RDONLY);
    if (!made) fail(change.path, errno);
    check(change.path, ::fstat(parent.get(), &owner));
    if (::geteuid() == 0) check(change.path, ::fchown(made.get(), owner.st_uid, owner.st_gid));
  }
  const Fd above = open_above(change.path);
  struct stat now {};
  const bool is_there = ::fstatat(above.get(), name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0;
  if (change.old ? !is_there || !is_same_file(now, old_[number])
                 : is_there && !S_ISDIR(now.st_mode))
    fail(change.path, EEXIST);
  const std::string laid = name_in_folder("new", number);
  // An empty folder may be left in the place of a file.
  if (is_there && S_ISDIR(now.st_mode))
    check(change.path, ::unlinkat(above.get(), name.c_str(), AT_REMOVEDIR));
  check(change.path, ::renameat(folder_.get(), laid.c_str(), above.get(), name.c_str()));
}

void TreeApply::sync_folders() {
  std::set<std::string> folders;
  for (const JournalChange& change : folder_.journal().changes) {
    folders.insert("");
    for (const std::string& folder : folders_above(change.path)) folders.insert(folder);
  }
  if (folders.size() > kManyFolders) {
    const Fd root = open_real_folder(root_, "", O_RDONLY);
    if (!root || ::syncfs(root.get()) != 0) fail(".", errno);
    return;
  }
  for (const std::string& path : folders) {
    const Fd folder = open_real_folder(root_, path, O_RDONLY);
    // Some file systems can't; a folder without read permission can't be opened.
    if (folder && ::fsync(folder.get()) != 0 && errno != EINVAL) fail(path, errno);
  }
}

void TreeApply::settle() {
  folder_.write_finished();
  done_ = true;
  folder_.remove();
}

std::vector<std::string> TreeApply::undo() {
  if (done_) return {};
  done_ = true;
  std::vector<std::string> left = roll_back(root_, folder_.get(), folder_.journal().changes);
  if (!left.empty()) return left;  // the old files stay where they are
  folder_.write_finished();
  folder_.remove();
  return left;
}

}  // namespace sortie
