#include "core/workspace/apply/roll_back.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/workspace/apply/present_entry.h"

namespace sortie {
namespace {

/// Undoes one journal's changes, the last one first.
class RollBack {
 public:
  RollBack(int root, int folder) : root_(root), folder_(folder) {}

  /// @return  "" or why it is not as it was
  std::string undo(const JournalChange& change, std::size_t number) {
    const auto [above, name] = folder_and_name(change.path);
    const Fd there = open_real_folder(root_, above, O_PATH);
    struct stat now {};
    const bool is_there =
        there && ::fstatat(there.get(), name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0;
    if (change.old) {
      if (is_there && (now.st_ino == change.old->inode || now.st_ino == change.old->kept) &&
          !is_ours(change, now))
        return "";
      if (is_there && !is_unchanged(change, now)) return "somebody has changed it since";
      return restore(change, number);
    }
    if (is_there && !is_ours(change, now)) return "";
    if (is_there && !is_unchanged(change, now)) return "somebody has changed it since";
    // Not unlinked: its inode number would be free for a folder that is made again.
    const std::string laid = name_in_folder("new", number);
    if (is_there && ::renameat(there.get(), name.c_str(), folder_, laid.c_str()) != 0)
      return errno_text(errno);
    if (!change.folders.empty() && change.folders.back().path == change.path)
      make_again(change.folders.back());
    return "";
  }

  void remove_folders(const JournalChange& change) {
    for (auto path = change.new_folders.rbegin(); path != change.new_folders.rend(); ++path) {
      const auto [above, name] = folder_and_name(*path);
      if (const Fd folder = open_real_folder(root_, above, O_PATH))
        ::unlinkat(folder.get(), name.c_str(), AT_REMOVEDIR);
    }
  }

 private:
  static bool is_ours(const JournalChange& change, const struct stat& now) {
    return change.made && now.st_ino == change.made->inode && !S_ISDIR(now.st_mode);
  }

  /// Whether it is the new file, with the content that it was written with.
  bool is_unchanged(const JournalChange& change, const struct stat& now) {
    if (!is_ours(change, now)) return false;
    const PresentEntry present = read_present(root_, change.path);
    return present.kind == PresentEntry::Kind::file &&
           sha256_hex(present.entry.content) == change.made->sha256;
  }

  std::string restore(const JournalChange& change, std::size_t number) {
    const auto [above, name] = folder_and_name(change.path);
    for (const auto& folder : change.folders) make_again(folder);
    const Fd there = open_real_folder(root_, above, O_PATH);
    if (!there) return "its folder can't be opened: " + errno_text(errno);
    const std::string kept = name_in_folder("old", number);
    if (::renameat(folder_, kept.c_str(), there.get(), name.c_str()) == 0) return "";
    return errno_text(errno);
  }

  void make_again(const JournalChange::Folder& folder) {
    const auto [above, name] = folder_and_name(folder.path);
    const Fd parent = open_real_folder(root_, above, O_PATH);
    if (!parent || ::mkdirat(parent.get(), name.c_str(), S_IRWXU) != 0) return;
    const Fd made = open_real_folder(parent.get(), name, O_RDONLY);
    if (!made) return;
    if (::geteuid() == 0 && ::fchown(made.get(), folder.user, folder.group) != 0) return;
    (void)::fchmod(made.get(), folder.mode);
  }

  int root_;
  int folder_;
};

}  // namespace

std::vector<std::string> roll_back(int root, int folder,
                                   const std::vector<JournalChange>& changes) {
  RollBack work(root, folder);
  std::vector<std::string> left;
  // New files first: one may be in the place of a folder that has to come back.
  for (const bool with_old : {false, true}) {
    for (std::size_t i = changes.size(); i-- > 0;) {
      if (changes[i].old.has_value() != with_old) continue;
      std::string why;
      try {
        why = work.undo(changes[i], i);
      } catch (const Error& error) {
        why = error.what();
      }
      if (!why.empty()) left.push_back(path_text(changes[i].path) + ": " + why);
    }
    if (!with_old)
      for (std::size_t i = changes.size(); i-- > 0;) work.remove_folders(changes[i]);
  }
  return left;
}

}  // namespace sortie
