#include "core/workspace/put_back.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/open_beneath.h"
#include "core/files/path_below.h"
#include "core/workspace/start_differences.h"
#include "core/workspace/start_making.h"
#include "core/workspace/tree.h"
#include "core/workspace/whose_change.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

/// Begins the name of a file that is being put back.
constexpr const char* kUnfinished = ".sortie-undo-";

std::string shown(const std::string& path) { return path.empty() ? "." : path_text(path); }

/// Puts a tree back, in an order in which each path finds its place: folders are opened, what the run
/// made is removed, folders are made again, then files; last the modes of folders.
class TreeUndo {
 public:
  /// @param own  whether `root` is the list's own tree, not one that shows it
  TreeUndo(const PutBack& what, const Fd& root, bool own)
      : what_(what), list_(what.list), maker_(what.start), own_(own), root_(root) {
    undone_.root = list_.root;
  }

  UndoneTree run() {
    const std::vector<StartDifference> differences = look();
    find_foreign(differences);
    find_moved(differences);
    for (auto one = differences.rbegin(); one != differences.rend(); ++one)  // children first
      attempt(*one, &TreeUndo::remove_made);
    for (const auto& one : differences) attempt(one, &TreeUndo::make_folder);
    if (!moved_.empty()) put_moved_back(differences);
    for (const auto& one : differences) attempt(one, &TreeUndo::put_back);
    for (auto one = differences.rbegin(); one != differences.rend(); ++one)
      attempt(*one, &TreeUndo::finish_folder);
    for (auto* paths : {&undone_.put_back, &undone_.left, &undone_.failed, &undone_.inexact}) {
      std::sort(paths->begin(), paths->end());
      paths->erase(std::unique(paths->begin(), paths->end()), paths->end());
    }
    return std::move(undone_);
  }

 private:
  using Step = void (TreeUndo::*)(const StartDifference&);

  void attempt(const StartDifference& one, Step step) {
    try {
      (this->*step)(one);
    } catch (const std::exception& error) {
      const std::string what = error.what();
      const std::string path = shown(one.path);
      undone_.failed.push_back(what.starts_with(path) ? what : path + ": " + what);
    }
  }

  std::vector<StartDifference> look() {
    std::vector<StartDifference> found = own_ ? look_at_own() : look_at_other();
    std::erase_if(found, [this](const auto& one) { return is_below_any(one.path, what_.leave); });
    return found;
  }

  /// A folder that commands closed is made anew, with all that the list has in it.
  std::vector<StartDifference> look_at_other() {
    std::vector<StartDifference> found = start_differences(list_);
    std::vector<fs::path> anew;
    for (StartDifference& one : found) {
      if (!one.is_there || !S_ISDIR(one.now.st_mode) || !one.is_closed) continue;
      remove_tree(fs::path("/proc/self/fd/" + std::to_string(root_.get())) / one.path);
      anew.emplace_back(one.path);
      one.is_there = false;
    }
    if (anew.empty()) return found;
    for (const StartEntry& entry : list_.entries())
      if (is_below_any(entry.path, anew) &&
          std::find(anew.begin(), anew.end(), entry.path) == anew.end())
        found.push_back({.path = entry.path, .was = &entry});
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    return found;
  }

  /// Folders that commands closed are opened for it.
  std::vector<StartDifference> look_at_own() {
    for (std::size_t before = 0;;) {
      std::vector<StartDifference> found = start_differences(list_);
      std::size_t closed = 0;
      for (const StartDifference& one : found) {
        if (!one.is_there || !S_ISDIR(one.now.st_mode) || !one.is_closed) continue;
        ++closed;
        open_folder_at(one);
      }
      if (closed == 0 || closed == before) return found;
      before = closed;
    }
  }

  void open_folder_at(const StartDifference& one) const {
    const Fd folder = open_plain(one.path, O_PATH);
    const mode_t mode = was_folder(one) ? one.was->stamp.mode & 07777 : 0700;
    const std::string name = "/proc/self/fd/" + std::to_string(folder.get());
    if (folder) ::chmod(name.c_str(), mode | 0700);
  }

  bool is_ignored(const StartDifference& one) {
    if (what_.ignore == nullptr) return false;
    if (one.was != nullptr) return one.was->is_ignored;
    if (fs::path(one.path).filename().native().starts_with(kUnfinished)) return false;
    const bool folder = S_ISDIR(one.now.st_mode);
    return !what_.ignore->tracked(one.path) &&
           what_.ignore->ignored(one.path + (folder ? "/" : ""));
  }

  /// Whether somebody else did it. Known before anything is put back, which writes to folders.
  bool is_foreign(const StartDifference& one) const { return foreign_.count(&one) != 0; }

  /// Whether only the times of the file differ, or nothing that is put back.
  bool is_as_before(const StartDifference& one) {
    if (one.was == nullptr || !one.is_there) return false;
    const StartEntry& was = *one.was;
    if (was.stamp.mode != one.now.st_mode || was.user != one.now.st_uid ||
        was.group != one.now.st_gid)
      return false;
    if (!S_ISREG(was.stamp.mode) && !S_ISLNK(was.stamp.mode)) return true;
    if (!StartMaker::can_make(was) ||
        (S_ISREG(was.stamp.mode) && was.stamp.size != static_cast<std::uint64_t>(one.now.st_size)))
      return false;
    return maker_.is_content_of(place_of(one.path), was);
  }

  static bool was_folder(const StartDifference& one) {
    return one.was != nullptr && S_ISDIR(one.was->stamp.mode);
  }
  static bool is_folder(const StartDifference& one) {
    return one.is_there && S_ISDIR(one.now.st_mode);
  }

  void find_foreign(const std::vector<StartDifference>& differences) {
    const WhoseChange whose(list_.root, what_.times);
    for (const StartDifference& one : differences)
      if (one.is_there && whose.is_of_others(one)) foreign_.insert(&one);
  }

  /// What git ignores is kept nowhere, but may only have been moved.
  void find_moved(const std::vector<StartDifference>& differences) {
    if (what_.ignore == nullptr) return;
    for (const StartDifference& one : differences)
      if (one.was != nullptr && !one.is_there && one.was->is_ignored)
        moved_.emplace(one.was->stamp.inode, one.was);
  }

  /// The entry that this new file was at the start, with the same content; nullptr for none.
  const StartEntry* moved_from(const StartDifference& one) const {
    if (one.was != nullptr || !one.is_there || !S_ISREG(one.now.st_mode)) return nullptr;
    const auto found = moved_.find(one.now.st_ino);
    if (found == moved_.end()) return nullptr;
    const FileStamp& was = found->second->stamp;
    const FileStamp now = stamp_of(one.now);
    return was.size == now.size && was.mtime == now.mtime ? found->second : nullptr;
  }

  void put_moved_back(const std::vector<StartDifference>& differences) {
    for (const auto& one : differences) attempt(one, &TreeUndo::move_back);
    for (auto one = differences.rbegin(); one != differences.rend(); ++one)
      if (one->was == nullptr && is_folder(*one) && open_plain(one->path, O_PATH))
        attempt(*one, &TreeUndo::remove_made);
  }

  void move_back(const StartDifference& one) {
    const StartEntry* const was = moved_from(one);
    if (was == nullptr || is_ignored(one) || is_foreign(one)) return;
    const fs::path from = one.path;
    const fs::path to = was->path;
    const Fd from_folder = open_plain(from.parent_path().native(), O_RDONLY);
    const Fd to_folder = open_plain(to.parent_path().native(), O_RDONLY);
    if (!from_folder || !to_folder ||
        ::renameat2(from_folder.get(), from.filename().c_str(), to_folder.get(),
                    to.filename().c_str(), RENAME_NOREPLACE) != 0)
      disk::fail_errno(one.path, errno);
    undone_.put_back.push_back(was->path);
  }

  /// Removes what was not there, or was of another kind.
  void remove_made(const StartDifference& one) {
    const bool same_kind = one.was != nullptr && one.is_there &&
                           (one.was->stamp.mode & S_IFMT) == (one.now.st_mode & S_IFMT);
    if (!one.is_there || same_kind || is_ignored(one)) return;
    const auto [folder, name] = place_of(one.path);
    if (is_folder(one)) {
      // One that still holds somebody's files stays.
      if (::unlinkat(folder.get(), name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOTEMPTY &&
          errno != EEXIST && errno != ENOENT)
        disk::fail_errno(one.path, errno);
      return;
    }
    const bool unfinished = name.starts_with(kUnfinished);
    if (!unfinished && is_foreign(one)) return leave(one);
    if (moved_from(one) != nullptr) return;
    if (::unlinkat(folder.get(), name.c_str(), 0) != 0) disk::fail_errno(one.path, errno);
    if (one.was == nullptr && !unfinished) undone_.put_back.push_back(one.path);
  }

  void make_folder(const StartDifference& one) {
    if (!was_folder(one) || is_folder(one)) return;
    const auto [folder, name] = place_of(one.path);
    if (::mkdirat(folder.get(), name.c_str(), 0700) != 0) disk::fail_errno(one.path, errno);
  }

  void put_back(const StartDifference& one) {
    if (one.was == nullptr || was_folder(one) || is_ignored(one)) return;
    const bool same_kind =
        one.is_there && (one.was->stamp.mode & S_IFMT) == (one.now.st_mode & S_IFMT);
    if (!StartMaker::can_make(*one.was)) {
      if (S_ISREG(one.was->stamp.mode)) fail_unknown(one);
      if (!same_kind) undone_.inexact.push_back(path_text(one.path) + ", " + lost_kind(*one.was));
      return;
    }
    if (same_kind && is_as_before(one)) {
      if (S_ISREG(one.was->stamp.mode)) maker_.add(*one.was, one.path);
      return put_time(one);
    }
    const PlacedName at = place_of(one.path);
    struct stat there {};
    const bool stays = is_folder(one) && ::fstatat(at.folder.get(), at.name.c_str(), &there,
                                                   AT_SYMLINK_NOFOLLOW) == 0;  // with others' files
    if (is_folder(one) ? stays : is_foreign(one)) return leave(one);
    const PlacedName made{at.folder, unfinished_name(one.path)};
    ::unlinkat(made.folder.get(), made.name.c_str(), 0);
    try {
      if (!make_link_to_other(made, *one.was)) maker_.make(made, *one.was);
      if (::renameat(made.folder.get(), made.name.c_str(), at.folder.get(), at.name.c_str()) != 0)
        disk::fail_errno(one.path, errno);
    } catch (...) {
      ::unlinkat(made.folder.get(), made.name.c_str(), 0);
      throw;
    }
    if (S_ISREG(one.was->stamp.mode)) maker_.add(*one.was, one.path);
    undone_.put_back.push_back(one.path);
    look_at_owner(at, *one.was);
  }

  /// A name in the same folder that the tree of the start does not have.
  std::string unfinished_name(const std::string& path) const {
    std::string name = kUnfinished + std::to_string(::getpid());
    while (list_.find((fs::path(path).parent_path() / name).native()) != nullptr) name += 'x';
    return name;
  }

  /// A file that had several names gets them again.
  bool make_link_to_other(const PlacedName& made, const StartEntry& was) {
    const std::string other = S_ISREG(was.stamp.mode) ? maker_.other_name(was) : "";
    if (other.empty()) return false;
    const fs::path parts = other;
    const Fd folder = open_plain(parts.parent_path().native(), O_RDONLY);
    return folder && ::linkat(folder.get(), parts.filename().c_str(), made.folder.get(),
                              made.name.c_str(), 0) == 0;
  }

  /// Files of other users can be replaced in a folder of one's own, but not be given back.
  void look_at_owner(const PlacedName& at, const StartEntry& was) {
    struct stat now {};
    if (::geteuid() == 0 ||
        ::fstatat(at.folder.get(), at.name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0 ||
        (now.st_uid == was.user && now.st_gid == was.group))
      return;
    undone_.inexact.push_back(path_text(was.path) + ", which belonged to the user " +
                              std::to_string(was.user) + " and group " + std::to_string(was.group) +
                              ": give it back with chown(1)");
  }

  static std::string lost_kind(const StartEntry& was) {
    return S_ISSOCK(was.stamp.mode)
               ? "a socket that the run removed: the program that listened there makes it again"
               : "a device that the run removed: make it again with mknod(1)";
  }

  [[noreturn]] static void fail_unknown(const StartDifference& one) {
    if (one.is_there && S_ISREG(one.now.st_mode))
      disk::fail(one.path,
                 "git ignores it, it was too large to be kept at the start (workspace.copy_limit), "
                 "and the run changed it");
    disk::fail(one.path,
               "git ignores it, it was too large to be kept at the start (workspace.copy_limit), "
               "and the run removed it");
  }

  /// For programs that compare times: what was built from the file is still newer.
  void put_time(const StartDifference& one) {
    if (stamp_of(one.now).mtime == one.was->stamp.mtime || is_foreign(one)) return;
    StartMaker::set_time(place_of(one.path), *one.was);
  }

  void finish_folder(const StartDifference& one) {
    if (!was_folder(one) || (is_folder(one) && is_as_before(one))) return;
    const Fd folder = open_plain(one.path, O_RDONLY);
    if (!folder) disk::fail_errno(shown(one.path), errno);
    if (::geteuid() == 0 && ::fchown(folder.get(), one.was->user, one.was->group) != 0)
      disk::fail_errno(one.path, errno);
    if (::fchmod(folder.get(), one.was->stamp.mode & 07777) != 0) disk::fail_errno(one.path, errno);
    undone_.put_back.push_back(shown(one.path));
  }

  void leave(const StartDifference& one) { undone_.left.push_back(one.path); }

  /// Opens a folder of the tree, "" for the root; no link is followed on the way, not even one that
  /// stays in the tree: somebody else may have laid it where a folder was.
  Fd open_plain(const std::string& path, int flags) const {
    Fd folder(::openat(root_.get(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
    for (const fs::path& part : fs::path(path))
      if (folder)
        folder =
            Fd(::openat(folder.get(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder || flags == O_PATH) return folder;
    return Fd(::openat(folder.get(), ".", flags | O_DIRECTORY | O_CLOEXEC));
  }

  /// The open folder of a path, until the next call, and its last name.
  PlacedName place_of(const std::string& path) {
    const fs::path parts = path;
    const std::string above = parts.parent_path().native();
    if (!folder_ || folder_path_ != above) {
      folder_ = open_plain(above, O_RDONLY);
      folder_path_ = above;
    }
    if (!folder_) disk::fail_errno(path, errno);
    return {folder_, parts.filename().native()};
  }

  const PutBack& what_;
  const StartList& list_;
  StartMaker maker_;
  const bool own_;
  const Fd& root_;
  std::set<const StartDifference*> foreign_;
  std::map<std::uint64_t, const StartEntry*> moved_;  ///< ignored files that are gone, by inode
  Fd folder_;                                         ///< the last one, since paths are sorted
  std::string folder_path_;                           ///< its path
  UndoneTree undone_;
};

}  // namespace

UndoneTree put_back_tree(const PutBack& what) {
  const Fd root = open_folder(AT_FDCWD, what.list.root.native(), what.list.root);
  return TreeUndo(what, root, true).run();
}

void put_back_in(const PutBack& what, const Fd& root) {
  const UndoneTree undone = TreeUndo(what, root, false).run();
  if (!undone.failed.empty())
    throw Error("the tree of the start could not be made: " + some_of(undone.failed),
                ExitCode::environment);
}

}  // namespace sortie
