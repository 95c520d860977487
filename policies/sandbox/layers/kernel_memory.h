#pragma once

#include <cstdint>

namespace sortie {

/// What the machine's kernel has taken for itself and can't give back, in bytes: memory of no
/// program and no file (/proc/meminfo). What is queued in sockets is here, and in no process' own
/// count. Of no use alone, since others make it grow too. 0 where /proc can't be read.
std::uint64_t kernel_memory();

/// The most that so many sockets can have the kernel hold for them, sockets that are themselves
/// queued in sockets included: far above what their buffers may be by the kernel's defaults.
/// @param sockets     open ones, of the run's processes
/// @param open_files  the limit of open files: so many may be queued
std::uint64_t most_held_by(int sockets, int open_files);

}  // namespace sortie
