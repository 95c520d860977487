#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/process/launcher.h"
#include "policies/sandbox/profile.h"
#include "policies/sandbox/view/tree_names.h"

namespace sortie {

/// What commands make under protected names that nothing stood at when the run began. No mount can
/// lie on a name that is not there, so that such a path is taken away again as soon as it is looked
/// for: before each command and tool, after them, and before anything judges the tree.
///
/// May be used by several threads.
class MadePaths {
 public:
  /// @param view     the root of the view, through which is removed; a descriptor of its own
  /// @param profile  with namespaces, its workspace not read-only; before any command runs
  MadePaths(Fd view, const SandboxProfile& profile);

  /// Who is told of what was removed, when it is: paths relative to the workspace, sorted.
  void tell(std::function<void(const std::vector<std::string>& paths)> told);
  enum class Kept { copied, moved };
  /// Who keeps what is about to be removed, path by path, relative to the workspace: where it is
  /// moved away by that, nothing is removed. Whatever it throws leaves the path as it is.
  void keep_by(std::function<Kept(const std::filesystem::path& path)> keep);
  /// Removes what is there now.
  /// @throws Error  ExitCode::integrity where something can't be removed, or comes back at once
  void undo();
  /// undo(), and all that was removed since the last call. Sorted.
  std::vector<std::string> take();
  /// The links where commands write: of an overlay those that were made, else all. Relative.
  std::set<std::filesystem::path> links();
  /// How far the globs of paths.protect are looked for.
  TreeNames::Reach reach();

 private:
  std::vector<std::filesystem::path> find();
  bool was_there(const std::filesystem::path& path) const;

  Fd view_;
  std::filesystem::path start_;     ///< overlay: the tree that nothing was made in; else ""
  std::filesystem::path searched_;  ///< where what was made lies
  std::vector<std::filesystem::path> names_;
  std::optional<TreeNames> matching_;         ///< globs; set by the constructor
  std::set<std::filesystem::path> at_start_;  ///< without an overlay: what stood there
  std::function<void(const std::vector<std::string>&)> told_;
  std::function<Kept(const std::filesystem::path&)> keep_;
  std::set<std::string> undone_;  ///< since the last take()
  std::mutex mutex_;
};

/// Looks for them before each command.
class MadePathsLauncher : public Launcher {
 public:
  MadePathsLauncher(Launcher& launcher, MadePaths& made) : launcher_(launcher), made_(made) {}

  std::unique_ptr<RunningCommand> start(const Command& command) override {
    made_.undo();
    return launcher_.start(command);
  }
  std::chrono::milliseconds time_left() const override { return launcher_.time_left(); }

 private:
  Launcher& launcher_;
  MadePaths& made_;
};

}  // namespace sortie
