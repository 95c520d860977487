#pragma once

#include <string>
#include <vector>

#include "core/workspace/apply/apply_folder.h"
#include "core/workspace/apply/path_changes.h"

namespace sortie {

/// Writes a set of changes into a real tree: all or none, also if the process is killed.
///
/// First everything is laid ready in a folder of the tree (ApplyFolder) and synced: the new files,
/// hard links to the old ones (copies, where these can't be had), a journal. A full disk or a
/// missing permission ends it here, and nothing has changed. Then each path is switched by rename(2)
/// or unlink(2). Whoever starts next on this tree reads the journal (recover_tree()) and puts back
/// what was switched, or removes what is left over.
///
/// New files have the umask's permissions and, for root, the owner of their folder; changed ones keep
/// theirs, but for the executable bits if git's mode changes. Missing folders are made; folders that
/// become empty are removed, as git does. No link is followed.
class TreeApply {
 public:
  /// @param root  the tree's folder, opened before; must outlive the object
  /// @throws Error  environment, busy, conflict (a file was changed since it was read): nothing has
  ///                changed
  TreeApply(int root, const std::vector<PathChange>& changes, const ApplyMark& mark = {});
  TreeApply(const TreeApply&) = delete;
  TreeApply& operator=(const TreeApply&) = delete;
  /// Undoes the changes unless settle() was called.
  ~TreeApply();

  /// Makes the changes.
  /// @throws Error  environment, conflict, after everything was undone; the text says so, or names
  ///                the paths that are not as they were
  void perform();
  /// From now on the changes stay. @throws Error  environment: the journal can't be written
  void settle();
  /// Neither settles nor undoes them: the next start on this tree does, by the mark.
  void leave() noexcept { done_ = true; }
  /// Takes them back. @return  a text for each path that is not as it was
  std::vector<std::string> undo();

 private:
  void lay_ready(const std::vector<PathChange>& changes);
  JournalChange lay_ready_one(const PathChange& change, std::size_t number);
  JournalChange::Old keep_old(const PathChange& change, std::size_t number);
  JournalChange::New lay_new(const PathChange& change, std::size_t number);
  void plan_folders(const PathChange& change, JournalChange& entry);
  void switch_all();
  void remove_one(std::size_t number);
  void make_one(std::size_t number);
  void remove_empty_folders(const std::string& path);
  void sync_folders();
  Fd open_above(const std::string& path) const;
  bool is_needed(const std::string& folder) const;

  int root_;
  ApplyFolder folder_;
  std::vector<struct stat> old_;  ///< of the file in its place, after it was linked
  bool done_ = false;             ///< settled, or undone
};

}  // namespace sortie
