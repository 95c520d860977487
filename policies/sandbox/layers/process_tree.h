#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace sortie {

/// What a tree of processes uses right now.
struct TreeUse {
  int processes = 0;
  std::uint64_t memory_bytes = 0;   ///< resident, shared pages counted for each
  std::uint64_t written_bytes = 0;  ///< to disks, by what is alive (/proc/PID/io)
};

/// Direct children of a process, those of all its threads.
std::vector<pid_t> children_of(pid_t process);

/// Measures all descendants of a process, itself left out.
TreeUse measure_descendants(pid_t process);

/// Proportional resident memory of the descendants, pages shared by several counted once: dearer,
/// for the moment before a limit is enforced. Falls back to the resident size.
std::uint64_t proportional_memory(pid_t process);

/// What processes hold by their open descriptors.
struct DescriptorUse {
  std::uint64_t memory_files = 0;  ///< bytes (memfd_create(2)), which need not be mapped by anyone
  int sockets = 0;
};
/// What the descendants of a process hold, among their first 20,000 descriptors.
DescriptorUse measure_descriptors(pid_t process);

/// What the shared memory segments (shmget(2)) and the queued messages (msgsnd(2)) of this
/// process's IPC namespace hold: nobody's own either.
std::uint64_t shared_segments();

/// Kills all children of the calling process, and what becomes its child by that (it must be a
/// subreaper), and reaps them. Those in `spared`, and what is below them, stay.
/// @return the number of processes that were killed
int kill_strays(const std::vector<pid_t>& spared);

}  // namespace sortie
