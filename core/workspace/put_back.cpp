#include "core/workspace/put_back.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/files/disk_place.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/files/open_beneath.h"
#include "core/files/path_below.h"
#include "core/workspace/start_differences.h"
#include "core/workspace/tree.h"
#include "core/workspace/tree_copy.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

using UndoHeld = StartEntry::Held;

/// Begins the name of a file that is being put back.
constexpr const char* kUnfinished = ".sortie-undo-";

timespec time_of(std::int64_t nanoseconds) {
  return {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
}

/// Puts a tree back, in an order in which each path finds its place: folders are opened, what the run
/// made is removed, folders are made again, then files; last the modes of folders.
class TreeUndo {
 public:
  /// @param own  whether `root` is the list's own tree, not one that shows it
  TreeUndo(const PutBack& what, const Fd& root, bool own)
      : what_(what), list_(what.list), start_(what.start), own_(own), root_(root) {
    undone_.root = list_.root;
  }

  UndoneTree run() {
    const std::vector<StartDifference> differences = look();
    for (auto one = differences.rbegin(); one != differences.rend(); ++one)  // children first
      attempt(*one, &TreeUndo::remove_made);
    for (const auto& one : differences) attempt(one, &TreeUndo::make_folder);
    for (const auto& one : differences) attempt(one, &TreeUndo::put_back);
    for (auto one = differences.rbegin(); one != differences.rend(); ++one)
      attempt(*one, &TreeUndo::finish_folder);
    for (auto* paths : {&undone_.put_back, &undone_.left, &undone_.failed}) {
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
      const std::string path = path_text(one.path);
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
    const Fd folder = open_beneath(root_.get(), one.path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
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

  /// Whether somebody else did it.
  bool is_foreign(const StartDifference& one) const {
    return one.is_there && !is_within(what_.times, stamp_of(one.now).ctime);
  }

  /// Whether only the times of the file differ, or nothing that is put back.
  bool is_as_before(const StartDifference& one) const {
    if (one.was == nullptr || !one.is_there) return false;
    const StartEntry& was = *one.was;
    if (was.stamp.mode != one.now.st_mode || was.user != one.now.st_uid ||
        was.group != one.now.st_gid)
      return false;
    if (S_ISDIR(was.stamp.mode)) return true;
    if (S_ISLNK(was.stamp.mode)) return link_at(one.path) == was.place;
    if (!S_ISREG(was.stamp.mode)) return true;
    if (was.held == UndoHeld::nowhere ||
        was.stamp.size != static_cast<std::uint64_t>(one.now.st_size))
      return false;
    return has_content(one.path, was);
  }

  /// Compares piece by piece what is kept as a file of its own.
  bool has_content(const std::string& path, const StartEntry& was) const {
    const Fd now = open_beneath(root_.get(), path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!now) return false;
    if (was.held != UndoHeld::kept) {
      std::string content(was.stamp.size + 1, '\0');
      content.resize(fill(now, content, path));
      return content == start_.held_content(was);
    }
    const Fd kept(::open(start_.kept_copy(was).c_str(), O_RDONLY | O_CLOEXEC));
    if (!kept) disk::fail(path, "what was kept of it is lost");
    constexpr std::size_t kPiece = 1 << 20;
    std::string one(kPiece, '\0');
    std::string other(kPiece, '\0');
    for (;;) {
      const std::size_t size = fill(now, one, path);
      if (size != fill(kept, other, path) || one.compare(0, size, other, 0, size) != 0)
        return false;
      if (size < kPiece) return true;
    }
  }

  static std::size_t fill(const Fd& file, std::string& room, const std::string& path) {
    std::size_t size = 0;
    for (ssize_t count = 1; count != 0 && size < room.size();) {
      count = ::read(file.get(), room.data() + size, room.size() - size);
      if (count < 0 && errno != EINTR) disk::fail_errno(path, errno);
      if (count > 0) size += static_cast<std::size_t>(count);
    }
    return size;
  }

  std::string link_at(const std::string& path) const {
    std::string target(4096, '\0');
    const auto [folder, name] = place_of(path);
    const ssize_t size = ::readlinkat(folder.get(), name.c_str(), target.data(), target.size());
    target.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return target;
  }

  static bool was_folder(const StartDifference& one) {
    return one.was != nullptr && S_ISDIR(one.was->stamp.mode);
  }
  static bool is_folder(const StartDifference& one) {
    return one.is_there && S_ISDIR(one.now.st_mode);
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
          errno != EEXIST)
        disk::fail_errno(one.path, errno);
      return;
    }
    const bool unfinished = name.starts_with(kUnfinished);
    if (!unfinished && is_foreign(one)) return leave(one);
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
    if (one.was->held == UndoHeld::nowhere) {
      if (S_ISREG(one.was->stamp.mode)) fail_unknown(one);
      if (!S_ISFIFO(one.was->stamp.mode)) return;  // a socket or device
    }
    const bool same_kind =
        one.is_there && (one.was->stamp.mode & S_IFMT) == (one.now.st_mode & S_IFMT);
    if (same_kind && is_as_before(one)) {
      if (S_ISREG(one.was->stamp.mode)) made_.emplace(one.was->stamp.inode, one.path);
      return put_time(one);
    }
    const auto [folder, name] = place_of(one.path);
    struct stat there {};
    const bool stays = is_folder(one) && ::fstatat(folder.get(), name.c_str(), &there,
                                                   AT_SYMLINK_NOFOLLOW) == 0;  // with others' files
    if (is_folder(one) ? stays : is_foreign(one)) return leave(one);
    const std::string made = kUnfinished + std::to_string(::getpid());
    ::unlinkat(folder.get(), made.c_str(), 0);
    try {
      make(folder, made, *one.was);
      if (::renameat(folder.get(), made.c_str(), folder.get(), name.c_str()) != 0)
        disk::fail_errno(one.path, errno);
    } catch (...) {
      ::unlinkat(folder.get(), made.c_str(), 0);
      throw;
    }
    undone_.put_back.push_back(one.path);
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

  void make(const Fd& folder, const std::string& name, const StartEntry& was) {
    if (S_ISLNK(was.stamp.mode)) return make_link(folder, name, was);
    if (S_ISREG(was.stamp.mode)) return make_file(folder, name, was);
    if (::mkfifoat(folder.get(), name.c_str(), 0600) != 0 ||
        (::geteuid() == 0 &&
         ::fchownat(folder.get(), name.c_str(), was.user, was.group, AT_SYMLINK_NOFOLLOW) != 0) ||
        ::fchmodat(folder.get(), name.c_str(), was.stamp.mode & 07777, 0) != 0)
      disk::fail_errno(was.path, errno);
    set_time(folder, name, was);
  }

  void make_link(const Fd& folder, const std::string& name, const StartEntry& was) {
    if (::symlinkat(was.place.c_str(), folder.get(), name.c_str()) != 0)
      disk::fail_errno(was.path, errno);
    if (::geteuid() == 0 &&
        ::fchownat(folder.get(), name.c_str(), was.user, was.group, AT_SYMLINK_NOFOLLOW) != 0)
      disk::fail_errno(was.path, errno);
    set_time(folder, name, was);
  }

  /// A file that had several names gets them again.
  void make_file(const Fd& folder, const std::string& name, const StartEntry& was) {
    if (const auto other = made_.find(was.stamp.inode); other != made_.end()) {
      const auto [from, from_name] = place_of(other->second);
      if (::linkat(from.get(), from_name.c_str(), folder.get(), name.c_str(), 0) == 0) return;
    }
    const Fd file(::openat(folder.get(), name.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) disk::fail_errno(was.path, errno);
    if (was.held == UndoHeld::kept) {
      const Fd kept(::open(start_.kept_copy(was).c_str(), O_RDONLY | O_CLOEXEC));
      struct stat status {};
      if (!kept || ::fstat(kept.get(), &status) != 0 ||
          static_cast<std::uint64_t>(status.st_size) != was.stamp.size)
        disk::fail(was.path, "what was kept of it is lost");
      copy_content(kept.get(), file.get(), status.st_size, was.path);
    } else if (!write_all(file.get(), start_.held_content(was))) {
      disk::fail_errno(was.path, errno);
    }
    if (::geteuid() == 0 && ::fchown(file.get(), was.user, was.group) != 0)
      disk::fail_errno(was.path, errno);
    if (::fchmod(file.get(), was.stamp.mode & 07777) != 0 || ::fsync(file.get()) != 0)
      disk::fail_errno(was.path, errno);
    set_time(folder, name, was);
    made_.emplace(was.stamp.inode, was.path);
  }

  /// For programs that compare times: what was built from the file is still newer.
  void put_time(const StartDifference& one) {
    if (stamp_of(one.now).mtime == one.was->stamp.mtime || is_foreign(one)) return;
    const auto [folder, name] = place_of(one.path);
    set_time(folder, name, *one.was);
  }

  static void set_time(const Fd& folder, const std::string& name, const StartEntry& was) {
    const timespec times[2] = {{0, UTIME_OMIT}, time_of(was.stamp.mtime)};
    ::utimensat(folder.get(), name.c_str(), times, AT_SYMLINK_NOFOLLOW);
  }

  void finish_folder(const StartDifference& one) {
    if (!was_folder(one) || (is_folder(one) && is_as_before(one))) return;
    const Fd folder = open_beneath(root_.get(), one.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!folder) disk::fail_errno(one.path, errno);
    if (::geteuid() == 0 && ::fchown(folder.get(), one.was->user, one.was->group) != 0)
      disk::fail_errno(one.path, errno);
    if (::fchmod(folder.get(), one.was->stamp.mode & 07777) != 0) disk::fail_errno(one.path, errno);
    undone_.put_back.push_back(one.path);
  }

  void leave(const StartDifference& one) { undone_.left.push_back(one.path); }

  /// The open folder of a path, no link followed out of the tree, and its last name.
  std::pair<Fd, std::string> place_of(const std::string& path) const {
    const fs::path parts = path;
    const std::string above = parts.parent_path().native();
    Fd folder = open_beneath(root_.get(), above.empty() ? "." : above, O_RDONLY | O_DIRECTORY);
    if (!folder) disk::fail_errno(path, errno);
    return {std::move(folder), parts.filename().native()};
  }

  const PutBack& what_;
  const StartList& list_;
  const StartFiles& start_;
  const bool own_;
  const Fd& root_;
  std::map<std::uint64_t, std::string> made_;  ///< by the inode at the start
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
