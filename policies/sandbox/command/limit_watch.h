#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/process/launcher.h"
#include "policies/sandbox/command/private_set.h"
#include "policies/sandbox/layers/process_tree.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// A command to be killed because the run exceeds a limit.
struct Excess {
  pid_t command = 0;  ///< its first process
  Ending why = Ending::memory_limit;
  std::string detail;  ///< "memory limit 512 MiB reached (limits.memory): 600 MiB in use"
};

/// What the processes of a command use.
struct SampledCommand {
  pid_t first = 0;  ///< its first process, which is not counted
  TreeUse use{};
};

/// Measures the memory, process count and disk writes of a whole run by sampling its processes.
class LimitWatch {
 public:
  /// @param profile, sets  outlive the watch
  LimitWatch(const SandboxProfile& profile, const PrivateSets& sets);
  /// Call it when the first command starts.
  void begin() { samples_ = 0; }
  /// Call it when no command is left, and before a process is forked: closes what it has open.
  void rest() { files_.close_all(); }
  /// Adds the resource usage of a reaped first process and its descendants.
  void add_ended(const rusage& use);
  /// Measures now; returns the largest command for each exceeded limit.
  /// @param commands  their first processes
  std::vector<Excess> sample(const std::vector<pid_t>& commands);
  /// "memory limit 512 MiB reached (limits.memory)".
  std::string memory_words() const;

 private:
  std::optional<Excess> measure_unmapped(const std::vector<SampledCommand>& commands);
  std::uint64_t private_bytes() const;

  const SandboxProfile& profile_;
  const PrivateSets& sets_;
  ProcessFiles files_{};
  std::uint64_t least_kernel_;  ///< the minimum of kernel_memory() since the start
  unsigned samples_ = 0;        ///< since begin()
  std::uint64_t unmapped_ = 0;  ///< as last measured
  std::uint64_t written_ = 0;   ///< by commands that have ended
};

}  // namespace sortie
