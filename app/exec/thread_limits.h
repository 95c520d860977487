#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>

#include "core/base/fd.h"

namespace sortie {

/// How many threads are kept, and for how long after their last turn; nothing: without limit.
struct ThreadLimits {
  std::optional<std::size_t> number = 1000;
  std::optional<std::chrono::hours> age = std::chrono::hours(30 * 24);
};

/// Reads $SORTIE_KEEP_THREADS: "30d", "1000", both with a comma, or "all".
/// @param text  "": the default limits
/// @throws InputError  it is something else
ThreadLimits read_thread_limits(std::string_view text);

/// Locks a thread's folder against another turn, and against its removal; the lock goes with the
/// descriptor. Waits for a turn that is about to end.
/// @return  no descriptor if the folder is not there, or can't be locked where it is
/// @throws Error  ExitCode::busy
Fd lock_thread(const std::filesystem::path& folder, std::chrono::milliseconds patience);

/// Removes the threads beyond the limits, the oldest first; some at a time. Leaves one that a turn is
/// at work on, and a folder with anything that exec did not put there.
/// @param threads  the folder of all threads
void remove_old_threads(const std::filesystem::path& threads, const ThreadLimits& limits) noexcept;

/// As new_run_id() makes them.
bool is_thread_id(std::string_view text);

inline constexpr const char* kPlaceSuffix =
    ".place.json";  ///< beside a run: its workspace and --out

}  // namespace sortie
