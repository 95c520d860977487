#pragma once

#include <memory>

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

/// A launcher that can be held to commands which can't write in the workspace, whatever they were
/// granted beyond the run's sandbox.
class ReadOnlyLauncher : public Launcher {
 public:
  explicit ReadOnlyLauncher(Launcher& launcher) : launcher_(launcher) {}

  /// For the commands that are started from now on.
  void hold_read_only(bool on) noexcept { read_only_ = on; }
  std::unique_ptr<RunningCommand> start(const Command& command) override {
    if (!read_only_) return launcher_.start(command);
    Command held = command;
    held.read_only = true;
    held.writes = false;
    return launcher_.start(held);
  }
  std::chrono::milliseconds time_left() const override { return launcher_.time_left(); }

 private:
  Launcher& launcher_;
  bool read_only_ = false;
};

}  // namespace sortie
