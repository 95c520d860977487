#pragma once

#include "core/base/fd.h"
#include "core/process/launcher.h"

namespace sortie {

/// Asks a keeper to start commands. May be used by several threads at once.
class KeeperLauncher : public Launcher {
 public:
  /// @param socket  to the keeper; outlives the launcher
  explicit KeeperLauncher(const Fd& socket) : socket_(socket) {}
  /// A program that does not exist, or a layer that failed, shows in the command's status().
  /// @throws Error  when the keeper is gone
  std::unique_ptr<RunningCommand> start(const Command& command) override;

 private:
  const Fd& socket_;
};

}  // namespace sortie
