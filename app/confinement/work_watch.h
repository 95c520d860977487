#pragma once

#include <memory>

#include "core/files/files.h"
#include "core/process/launcher.h"
#include "core/workspace/work_times.h"

namespace sortie {

/// Records the time of each command, up to the death of its last process.
class WatchedLauncher : public Launcher {
 public:
  /// Both outlive the object and its commands.
  WatchedLauncher(Launcher& launcher, WorkTimes& times) : launcher_(launcher), times_(times) {}

  std::unique_ptr<RunningCommand> start(const Command& command) override;
  std::chrono::milliseconds time_left() const override { return launcher_.time_left(); }

 private:
  Launcher& launcher_;
  WorkTimes& times_;
};

/// Records the time of each change that sortie's own tools make.
class WatchedFiles : public DiskFiles {
 public:
  WatchedFiles(Fd root, std::filesystem::path place, WorkTimes& times)
      : DiskFiles(std::move(root), std::move(place)), times_(times) {}

  void write(const std::filesystem::path& path, std::string_view content, unsigned mode) override;
  void remove(const std::filesystem::path& path) override;
  bool remove_empty_folder(const std::filesystem::path& path) override;
  void replace_all(const std::vector<Replacement>& replacements) override;

 private:
  WorkTimes& times_;
};

}  // namespace sortie
