#pragma once

#include <filesystem>
#include <string>

#include "core/process/launcher.h"
#include "policies/engine/engine.h"
#include "policies/environment/environment.h"

namespace sortie {

/// Where a run's commands are started: the kernel's part of it, and the rules.
class CommandHost {
 public:
  virtual ~CommandHost() = default;
  virtual Launcher& launcher() = 0;
  /// Removes what commands of this Command::private_set have left outside the workspace.
  virtual void drop_private_set(const std::string& name) = 0;
  /// All that a command gets.
  virtual const Environment& environment() const = 0;
  virtual const Engine& engine() const = 0;
  /// Where commands find the workspace: at its own path, or, where nothing can be mounted, the
  /// copy's.
  virtual const std::filesystem::path& workspace() const = 0;
};

}  // namespace sortie
