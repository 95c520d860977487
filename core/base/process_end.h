#pragma once

#include <sys/types.h>

#include <chrono>

namespace sortie {

/// Waits until a process has ended that need not be a child of this one.
/// @return  false if it still runs after that time
bool wait_for_process_end(pid_t pid, std::chrono::milliseconds patience);

}  // namespace sortie
