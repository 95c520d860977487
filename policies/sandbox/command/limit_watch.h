#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/process/launcher.h"
#include "policies/sandbox/command/private_set.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// A command that is to be ended for what the run uses.
struct Excess {
  pid_t command = 0;  ///< its first process
  Ending why = Ending::memory_limit;
  std::string detail;  ///< "memory limit 512 MiB reached (limits.memory): 600 MiB in use"
};

/// What a run as a whole uses, measured by looking at its processes: memory, count and disk.
class LimitWatch {
 public:
  /// @param profile, sets  outlive the watch
  LimitWatch(const SandboxProfile& profile, const PrivateSets& sets);
  /// A command runs where none did before.
  void begin() { samples_ = 0; }
  /// What a first process that was reaped had used, all below it included.
  void add_ended(const rusage& use);
  /// Measures now; the largest command is named where a limit is passed.
  /// @param commands  their first processes
  std::vector<Excess> sample(const std::vector<pid_t>& commands);
  /// "memory limit 512 MiB reached (limits.memory)".
  std::string memory_words() const;

 private:
  std::optional<Excess> measure_unmapped(const std::vector<pid_t>& commands);
  std::uint64_t private_bytes() const;

  const SandboxProfile& profile_;
  const PrivateSets& sets_;
  std::uint64_t least_kernel_;  ///< that the kernel held for itself since the start
  unsigned samples_ = 0;        ///< since a command ran where none did before
  std::uint64_t unmapped_ = 0;  ///< as last measured
  std::uint64_t written_ = 0;   ///< by commands that have ended
};

}  // namespace sortie
