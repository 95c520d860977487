#pragma once

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

}  // namespace sortie
