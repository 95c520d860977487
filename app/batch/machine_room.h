#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sortie {

/// What a run is taken to need until the first ones have ended: about 12 MB of sortie with its keeper
/// (docs/scale.md), the rest for its commands.
inline constexpr std::uint64_t kMemoryOfRun = 64ull << 20;

/// How many runs this machine has cores for: two for each, since a run mostly waits for its model.
int jobs_for_cores();

/// The bytes of memory that are free, by the machine and by this process's cgroup; the largest number if
/// neither says.
std::uint64_t free_memory();

/// How many runs are at work at once: a number, or what the machine has cores and free memory for.
class RunRoom {
 public:
  /// @param jobs  0: by the machine
  explicit RunRoom(int jobs) : auto_(jobs == 0), jobs_(auto_ ? jobs_for_cores() : jobs) {}

  bool is_auto() const noexcept { return auto_; }
  int jobs() const noexcept { return jobs_; }
  /// A run has ended that had so many bytes at the most.
  void take_peak(std::uint64_t bytes) noexcept { run_ = std::max(run_, bytes); }
  /// Whether there is memory for a run beside so many. One may always be at work; a further one needs
  /// what the largest so far has taken.
  bool has_memory(std::size_t running) const {
    return !auto_ || running == 0 || free_memory() >= 2 * run_;
  }

 private:
  bool auto_;
  int jobs_;
  std::uint64_t run_ = kMemoryOfRun;
};

}  // namespace sortie
