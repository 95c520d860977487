#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "policies/sandbox/layers/process_files.h"

namespace sortie {

/// A process as it was found.
struct TreeProcess {
  pid_t id = 0;
  long threads = 0;
};

/// The resources that a tree of processes uses now.
struct TreeUse {
  int processes = 0;
  std::uint64_t memory_bytes = 0;   ///< resident, shared pages counted for each
  std::uint64_t written_bytes = 0;  ///< to disks, by living processes (/proc/PID/io)
  std::vector<TreeProcess> all{};   ///< zombies included
};

/// Direct children of a process, those of all its threads.
std::vector<pid_t> children_of(pid_t process);

/// Whose processes /proc lists.
enum class Listed {
  own,   ///< only this process and its descendants: it is the first of its PID namespace
  every  ///< also others
};

/// Measures all descendants of each of these processes, without itself.
/// @param files  of the last look; afterwards those of this one
std::vector<TreeUse> measure_descendants(const std::vector<pid_t>& processes, Listed listed,
                                         ProcessFiles& files);

/// Proportional resident memory of the descendants, shared pages counted once: slower, for use
/// before a limit is enforced. Falls back to the resident size.
std::uint64_t proportional_memory(pid_t process);

/// Memory and sockets that processes hold by their open descriptors.
struct DescriptorUse {
  std::uint64_t memory_files = 0;  ///< bytes (memfd_create(2)), which may be unmapped
  int sockets = 0;
};
/// Measures the first 20,000 descriptors of these processes, those of all threads.
DescriptorUse measure_descriptors(const std::vector<TreeProcess>& processes);

/// Bytes in the shared memory segments (shmget(2)) and queued messages (msgsnd(2)) of this
/// process's IPC namespace, which belong to no process.
std::uint64_t shared_segments();

/// Kills and reaps all children of the calling process, and those that become its children by that
/// (it must be a subreaper), except those in `spared` and their descendants.
/// @return the number of processes that were killed
int kill_strays(const std::vector<pid_t>& spared);

}  // namespace sortie
