#pragma once

#include <cstdint>

namespace sortie {

/// How full the machine's memory is (/proc/meminfo), in bytes.
struct KernelMemory {
  std::uint64_t available = 0;  ///< for new programs, without swapping
  /// What the kernel has taken for itself and can't give back: no program's, no file's. What is
  /// queued in sockets is here, and in no process' own count.
  std::uint64_t taken = 0;
};

/// Zeros where /proc can't be read.
KernelMemory read_kernel_memory();

/// What the kernel has taken since, as far as the machine lacks it now.
std::uint64_t taken_since(const KernelMemory& then, const KernelMemory& now);

/// The most that so many sockets can have the kernel hold for them, sockets that are themselves
/// queued in sockets included: far above what their buffers may be by the kernel's defaults.
/// @param sockets     open ones, of the run's processes
/// @param open_files  the limit of open files: so many may be queued
std::uint64_t most_held_by(int sockets, int open_files);

}  // namespace sortie
