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

/// A folder in the user's tree that takes what sortie has to take away there: whoever wrote it,
/// nothing of it is lost. Made when the first thing is kept, ignored by git, never removed.
///
/// All names in it are flat: "docs/CODEOWNERS" is "docs-CODEOWNERS.found".
class KeptAside {
 public:
  /// @param tree  absolute, links resolved
  explicit KeptAside(std::filesystem::path tree) : tree_(std::move(tree)) {}

  /// Renames what stands at a path of the tree to PATH.found. No link on the way is followed.
  /// @return  false where nothing stands there
  /// @throws Error  ExitCode::integrity: it can't be moved, and is left
  bool move(const std::filesystem::path& path);
  /// The name for a copy of how a path was at the start: PATH.start, absolute, nothing there yet.
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

/// The protected paths of a tree in which no mount keeps commands from changing them: looked at
/// after each command, and put back from a place that commands can't reach.
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

  /// Who keeps what restore_changed() is about to erase, path by path, relative to the tree; not
  /// the content of a `.git` that stood there at the start. Whatever it throws ends the restoring.
  void keep_by(std::function<void(const std::filesystem::path& path)> keep);

  /// The links of the tree, relative to it, but those in node_modules.
  const std::set<std::filesystem::path>& links();
  /// How far the globs are looked for.
  TreeNames::Reach reach() const { return matching_.reach(); }

  /// Puts back what is not as it was at the start: changed, removed or made since.
  /// @return these paths, relative to the tree, sorted
  /// @throws Error  ExitCode::integrity when one could not be put back
  std::vector<std::string> restore_changed();

  /// What was not as it was at the start, in a tree that others than commands write to. Relative
  /// paths, sorted.
  struct Settled {
    std::vector<std::string> put_back;  ///< what was found is aside
    std::vector<std::string> left;      ///< as found; how it was at the start is aside
  };
  /// As restore_changed(), and destroys nothing: what is put back is moved aside before. What of a
  /// repository runs nothing (objects, refs, the index) is left as it is found, since a commit of
  /// the user's can't be told from a command's; only what no repository is without comes back.
  /// @throws Error  ExitCode::integrity
  Settled settle(KeptAside& aside);

 private:
  /// What lstat(2) tells without reading; equal stamps, equal content: nobody sets a ctime.
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
  TreeNames matching_;                        ///< what has wildcards
  std::set<std::filesystem::path> at_start_;  ///< what matched then
  std::function<void(const std::filesystem::path&)> keep_;
  Stamps start_;
};

}  // namespace sortie
