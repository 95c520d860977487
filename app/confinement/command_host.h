#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/base/fd.h"
#include "core/process/launcher.h"
#include "core/workspace/mount_plan.h"
#include "policies/engine/engine.h"
#include "policies/environment/environment.h"
#include "policies/sandbox/view/made_paths.h"
#include "policies/sandbox/view/set_tree.h"

namespace sortie {

/// Starts a run's commands, and knows their environment and rules.
class CommandHost {
 public:
  virtual ~CommandHost() = default;
  virtual Launcher& launcher() = 0;
  /// Removes files that commands of this Command::private_set left outside the workspace.
  virtual void drop_private_set(const std::string& name) = 0;
  /// Whether commands of a private set can see a tree of their own.
  virtual bool can_make_tree() const = 0;
  /// Keeper::make_tree(). @throws Error
  virtual Fd make_tree(const SetTree& tree) = 0;
  /// Guards the protected names in such a tree that no mount can; null if none can be made there.
  /// @param plan  of the tree, whose mounts are made
  /// @param root  its root, a descriptor of its own
  virtual std::unique_ptr<MadePaths> guard_tree(const MountPlan& plan, Fd root) = 0;
  /// For another tree that was put at workspace(), where nothing can be mounted: takes out what
  /// commands must not see in it. @throws Error
  virtual void clean_tree() = 0;
  /// The environment of commands.
  virtual const Environment& environment() const = 0;
  virtual const Engine& engine() const = 0;
  /// The path of the workspace for commands: its own, or that of the copy if nothing can be mounted.
  virtual const std::filesystem::path& workspace() const = 0;
};

}  // namespace sortie
