#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/confinement/command_host.h"
#include "core/files/files.h"
#include "core/task/task.h"
#include "core/workspace/copy.h"
#include "core/workspace/diff/diff.h"
#include "core/workspace/diff/restored_paths.h"
#include "core/workspace/own_tree_aside.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// A tree for one verification, at the place of the run's: the start state with its ignored files,
/// and exactly what a diff holds (verify.in: fresh).
///
/// On an overlay nothing is copied. A copy takes the place of the run's copy where nothing can be
/// mounted, and the user's own tree becomes the start for a time; then no other command may run
/// meanwhile.
class FreshTree {
 public:
  /// Everything in it outlives the object.
  struct Parts {
    const TaskVerify& task;
    CommandHost& host;
    const Workspace& run;   ///< the run's own tree
    const DiskFiles& view;  ///< the same, as commands see it
  };
  /// @param set     the private set whose commands see it
  /// @param effect  of the diff
  /// @throws Error  ExitCode::environment
  FreshTree(const Parts& parts, std::string set, DiffEffect effect);
  FreshTree(const FreshTree&) = delete;
  FreshTree& operator=(const FreshTree&) = delete;
  ~FreshTree();

  /// Puts the run's tree in its place again where nothing can be mounted; else at the end.
  /// @throws Error  ExitCode::environment
  void end();

  /// Puts back what its commands have changed of the start and of the diff; what is new stays.
  /// @param paths   all that they changed
  /// @param effect  of the diff that it was made with
  /// @throws Error  ExitCode::environment
  void put_back(const std::vector<std::string>& paths, const DiffEffect& effect);

  /// Removes what its commands made at paths of verify.restore that the start does not have, but for
  /// what the start's rules ignore and what verify.may_change names.
  /// @return  the removed paths
  /// @throws Error  ExitCode::environment
  std::vector<std::string> take_out_made();

  const Workspace& workspace() const { return *workspace_; }
  const DiskFiles& files() const { return *files_; }
  /// Guards protected names that did not exist; null where there is nothing to guard.
  MadePaths* made_paths() const { return made_.get(); }
  /// The paths of the diff that are as at the start all the same (verify.restore).
  const std::vector<std::string>& restored() const { return restored_; }

 private:
  void mount();
  bool mount_as(SetTree::Kind kind);
  void swap();
  void swap_own();
  void put_start();
  void find_kept();
  bool is_untouched(const std::string& path) const;
  void keep_folders();
  void copy_kept(const std::string& path);
  void restore_kept();
  bool add_start(const std::string& path, DiffEffect& back) const;
  void guard();

  Parts parts_;
  const OwnTreeWorkspace* own_;  ///< the run, if it works in the user's own tree; else null
  std::string set_;
  std::filesystem::path folder_;  ///< what it needs on disk; removed at the end
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<DiskFiles> files_;
  std::unique_ptr<MadePaths> made_;
  std::optional<SwappedTree> swapped_;
  std::optional<OwnTreeAside> aside_;
  std::vector<std::string> kept_folders_;
  std::vector<std::string> kept_files_;
  std::optional<RestoredPaths> restore_;
  std::vector<std::string> restored_;
};

}  // namespace sortie
