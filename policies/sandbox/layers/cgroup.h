#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/fd.h"

namespace sortie {

/// What a control group is to bound; 0: nothing.
struct GroupLimits {
  std::uint64_t memory_bytes = 0;
  int tasks = 0;  ///< processes and threads together
};

/// A control group (cgroups(7), version 2) for all commands of a run: the kernel's own bound on
/// their memory and number, and one switch that kills them all. Removed at its end.
///
/// It stands beside or below this process' own group, in the nearest one that hands the memory and
/// pids controllers down and may be written. Where none does, as on machines that still have these
/// controllers in version 1, it is the switch alone.
class RunGroup {
 public:
  /// @param notes  gets a line for each part that this machine does not offer, with the reason
  /// @return nothing where no group can be made
  static std::unique_ptr<RunGroup> make(const GroupLimits& limits, std::vector<std::string>& notes);
  /// Makes the group below a given folder instead of where /proc says.
  /// @param top  the hierarchy's mount; nothing above it is looked at
  static std::unique_ptr<RunGroup> make_at(const std::filesystem::path& own,
                                           const std::filesystem::path& top,
                                           const GroupLimits& limits,
                                           std::vector<std::string>& notes);
  RunGroup(const RunGroup&) = delete;
  RunGroup& operator=(const RunGroup&) = delete;
  ~RunGroup() { end(); }

  /// For clone_process(), and for what the functions below read.
  const Fd& folder() const { return folder_; }
  const std::filesystem::path& path() const { return path_; }
  /// Kills all in it, waits until they are gone, removes it. @return whether it is gone
  bool end();

 private:
  RunGroup(std::filesystem::path path, Fd folder)
      : path_(std::move(path)), folder_(std::move(folder)) {}

  std::filesystem::path path_;
  Fd folder_;  ///< locked (flock(2)) while this process lives: others tell a dead run's by that
};

/// How often the kernel has killed for want of memory in the group; 0 where it does not count.
std::uint64_t memory_kills(const Fd& group);

/// Kills every process of the group. False where the kernel can't (before Linux 5.14).
bool kill_group(const Fd& group);

}  // namespace sortie
