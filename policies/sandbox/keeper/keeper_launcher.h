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
  /// A missing program or a failed layer is reported by the command's status().
  /// @throws Error  if the keeper has died
  std::unique_ptr<RunningCommand> start(const Command& command) override;

 private:
  const Fd& socket_;
};

/// A launcher that can make all commands read-only in the workspace, whatever escalation they have.
class ReadOnlyLauncher : public Launcher {
 public:
  explicit ReadOnlyLauncher(Launcher& launcher) : launcher_(launcher) {}

  /// Affects commands that are started from now on.
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
