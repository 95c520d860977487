#pragma once

#include <filesystem>
#include <string>

#include "core/process/launcher.h"
#include "policies/engine/engine.h"
#include "policies/environment/environment.h"

namespace sortie {

/// Starts a run's commands, and knows their environment and rules.
class CommandHost {
 public:
  virtual ~CommandHost() = default;
  virtual Launcher& launcher() = 0;
  /// Removes files that commands of this Command::private_set left outside the workspace.
  virtual void drop_private_set(const std::string& name) = 0;
  /// The environment of commands.
  virtual const Environment& environment() const = 0;
  virtual const Engine& engine() const = 0;
  /// The path of the workspace for commands: its own, or that of the copy if nothing can be mounted.
  virtual const std::filesystem::path& workspace() const = 0;
};

}  // namespace sortie
