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

/// Removes files that commands make at protected names that did not exist when the run began.
/// Nothing can be mounted on a missing name, so such a path is removed at the next check: before
/// and after each command and tool, and before the tree is evaluated.
///
/// May be used by several threads.
class MadePaths {
 public:
  /// @param view     the root of the view, used for removals; a descriptor of its own
  /// @param profile  with namespaces and a writable workspace; call it before any command runs
  MadePaths(Fd view, const SandboxProfile& profile);

  /// Sets the callback for removed paths: relative to the workspace, sorted.
  void tell(std::function<void(const std::vector<std::string>& paths)> told);
  enum class Kept { copied, moved };
  /// Sets the callback that saves a path, relative to the workspace, before it is removed: if it
  /// moves the path away, nothing is removed. If it throws, the path is left unchanged.
  void keep_by(std::function<Kept(const std::filesystem::path& path)> keep);
  /// Removes all such paths now.
  /// @throws Error  ExitCode::integrity if a path can't be removed, or is made again at once
  void undo();
  /// undo(), then returns all paths removed since the last call, sorted.
  std::vector<std::string> take();
  /// The links in the tree, relative: with an overlay only new ones, else all.
  std::set<std::filesystem::path> links();
  /// How far the globs of paths.protect are searched.
  TreeNames::Reach reach();

 private:
  std::vector<std::filesystem::path> find();
  bool was_there(const std::filesystem::path& path) const;

  Fd view_;
  std::filesystem::path start_;     ///< overlay: the unchanged lower tree; else ""
  std::filesystem::path searched_;  ///< the tree where new paths appear
  std::vector<std::filesystem::path> names_;
  std::optional<TreeNames> matching_;         ///< globs; set by the constructor
  std::set<std::filesystem::path> at_start_;  ///< without an overlay: the paths that existed
  std::function<void(const std::vector<std::string>&)> told_;
  std::function<Kept(const std::filesystem::path&)> keep_;
  std::set<std::string> undone_;  ///< since the last take()
  std::mutex mutex_;
};

/// Calls MadePaths::undo() before each command.
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
