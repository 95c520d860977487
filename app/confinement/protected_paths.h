#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "policies/sandbox/view/tree_names.h"

namespace sortie {

/// A folder in the user's tree for files that sortie must move away there, so that nothing is lost.
/// Created when the first file is kept, ignored by git, never removed.
///
/// All names in it are flat: "docs/CODEOWNERS" is "docs-CODEOWNERS.found".
class KeptAside {
 public:
  /// @param tree  absolute, links resolved
  explicit KeptAside(std::filesystem::path tree) : tree_(std::move(tree)) {}

  /// Moves a path of the tree to PATH.found. Follows no links on the way.
  /// @return  false if there is no such path
  /// @throws Error  ExitCode::integrity: it can't be moved, and is left
  bool move(const std::filesystem::path& path);
  /// The free name for a copy of a path as it was at the start: PATH.start, absolute.
  /// @throws Error  as move()
  std::filesystem::path place_for_start(const std::filesystem::path& path);
  /// Its name in the tree; "" as long as nothing is kept.
  std::string name() const { return folder_.filename().string(); }

 private:
  void make_folder();
  std::string free_name(const std::filesystem::path& path, const char* ending) const;

  std::filesystem::path tree_;
  std::filesystem::path folder_;
  Fd open_;  ///< folder_
};

/// The protected paths of a tree without mounts that guard them: checked after each command, and
/// restored from a place that commands can't reach.
///
/// Landlock only adds rights, so inside a writable tree it can't carve out `.git`. Call it only
/// while no command runs.
class ProtectedPaths {
 public:
  /// @param tree    what commands work in; absolute, links resolved
  /// @param source  holds the same protected paths, as they were at the start
  /// @param globs   relative to the tree; those with wildcards as TreeNames finds them
  ProtectedPaths(std::filesystem::path tree, std::filesystem::path source,
                 std::vector<std::string> globs);

  /// Copies the protected paths into a folder, which is the source from now on: for a tree that has
  /// no second copy. @throws std::filesystem::filesystem_error
  void keep_in(const std::filesystem::path& folder);

  /// @param keep  keeps each path that restore_changed() is about to erase, relative to the tree;
  ///              not the content of a `.git` that existed at the start. An exception ends the
  ///              restoring
  void keep_by(std::function<void(const std::filesystem::path& path)> keep);

  /// The links of the tree, relative to it, except those in node_modules.
  const std::set<std::filesystem::path>& links();
  /// How far the globs are searched.
  TreeNames::Reach reach() const { return matching_.reach(); }

  /// Restores paths that were changed, removed or created since the start.
  /// @return these paths, relative to the tree, sorted
  /// @throws Error  ExitCode::integrity: one could not be restored
  std::vector<std::string> restore_changed();

  /// The paths that had changed, in a tree that not only commands write to. Relative, sorted.
  struct Restored {
    std::vector<std::string> put_back;  ///< the changed version was moved aside
    std::vector<std::string> left;      ///< unchanged; the version of the start is aside
  };
  /// As restore_changed(), but destroys nothing: the changed version is moved aside first. The parts of
  /// a repository that run nothing (objects, refs, the index) are left as they are, since a commit of
  /// the user can't be told from a command's; only the parts that every repository needs are restored.
  /// @throws Error  ExitCode::integrity
  Restored restore_and_keep(KeptAside& aside);

 private:
  /// A file's state from lstat(2). Equal stamps mean equal content, since nobody can set a ctime.
  struct Stamp {
    mode_t mode = 0;
    off_t size = 0;
    ino_t inode = 0;
    std::int64_t changed_ns = 0;  ///< ctime
    bool operator==(const Stamp&) const = default;
  };
  using Stamps = std::map<std::string, Stamp>;

  static Stamp stamp_of(const struct stat& status);
  std::vector<std::filesystem::path> find();
  Stamps stamps();
  void add_stamps(const std::filesystem::path& path, Stamps& stamps) const;
  bool differs(const std::string& path, const Stamp& before, const Stamp& now) const;
  void put_back(const std::filesystem::path& path, KeptAside* aside = nullptr) const;
  void keep_changed(const std::set<std::string>& changed) const;
  Stamps reopen_folders(std::set<std::string>& changed);
  void copy_start(const std::filesystem::path& path, KeptAside& aside) const;

  std::filesystem::path tree_;
  std::filesystem::path source_;
  std::vector<std::string> names_;
  TreeNames matching_;                        ///< the globs with wildcards
  std::set<std::filesystem::path> at_start_;  ///< the matches at the start
  std::function<void(const std::filesystem::path&)> keep_;
  Stamps start_;
};

}  // namespace sortie
