#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/fd.h"

namespace sortie {

/// The limits of a control group; 0: none.
struct GroupLimits {
  std::uint64_t memory_bytes = 0;
  int tasks = 0;  ///< processes and threads together
};

/// A control group (cgroups(7), version 2) for all commands of a run: the kernel limits their
/// memory and number, and can kill them all at once. Removed at its end.
///
/// It is made beside or below this process's own group, in the nearest one that delegates the
/// memory and pids controllers and is writable. If there is none, as on machines that use these
/// controllers in version 1, it can only kill.
class RunGroup {
 public:
  /// @param notes  receives a line for each part that this machine does not offer, with the reason
  /// @return nothing if no group can be made
  static std::unique_ptr<RunGroup> make(const GroupLimits& limits, std::vector<std::string>& notes);
  /// Makes the group below a given folder instead of where /proc says.
  /// @param top  the hierarchy's mount; nothing above it is read
  static std::unique_ptr<RunGroup> make_at(const std::filesystem::path& own,
                                           const std::filesystem::path& top,
                                           const GroupLimits& limits,
                                           std::vector<std::string>& notes);
  RunGroup(const RunGroup&) = delete;
  RunGroup& operator=(const RunGroup&) = delete;
  ~RunGroup() { end(); }

  /// For clone_process() and the functions below.
  const Fd& folder() const { return folder_; }
  const std::filesystem::path& path() const { return path_; }
  /// Kills all its processes, waits for their end and removes it. @return whether it is removed
  bool end();

 private:
  RunGroup(std::filesystem::path path, Fd folder)
      : path_(std::move(path)), folder_(std::move(folder)) {}

  std::filesystem::path path_;
  Fd folder_;  ///< locked (flock(2)) while this process lives: marks a living run's group
};

/// This process's own group of version 2; "" if it can't be found.
std::filesystem::path own_group();

/// How often the kernel has killed in the group for lack of memory; 0 if it does not count.
std::uint64_t memory_kills(const Fd& group);

/// Kills every process of the group. False if the kernel can't (before Linux 5.14).
bool kill_group(const Fd& group);

}  // namespace sortie
