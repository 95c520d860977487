#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/fd.h"

namespace sortie {

/// A time in which a run's commands or tools could write, by the clock of file stamps (ctime).
struct WorkTime {
  std::int64_t begin = 0;  ///< nanoseconds
  std::int64_t end = 0;
  bool operator==(const WorkTime&) const = default;
};

/// Records when a run works in the user's own tree. A file whose ctime lies outside of these times
/// was last changed by somebody else: nobody can set a ctime.
///
/// The times are on disk before the work begins. If the run is killed, its keeper dates the file
/// kEndOfWork once all processes are dead; should the keeper be killed too, a sign of life, renewed
/// twenty times a second, tells about when.
class WorkTimes {
 public:
  /// Work may be recorded by several objects at once.
  /// Appends to the times of an earlier process of the same run. @throws Error
  explicit WorkTimes(const std::filesystem::path& folder);
  WorkTimes(const WorkTimes&) = delete;
  WorkTimes& operator=(const WorkTimes&) = delete;
  ~WorkTimes();

  /// Work begins; work may overlap. Safe in every thread. @throws Error  the time can't be stored
  void begin();
  void end() noexcept;

 private:
  void write(char what);
  std::int64_t sign_of_life() noexcept;
  void live(const std::stop_token& stop);

  Fd file_;
  Fd alive_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  int working_ = 0;
  std::jthread thread_;  ///< from the first begin(): a run forks its keeper before it has threads
};

/// Work for the lifetime of the object.
class WorkTimeGuard {
 public:
  explicit WorkTimeGuard(WorkTimes& times) : times_(times) { times_.begin(); }
  WorkTimeGuard(const WorkTimeGuard&) = delete;
  WorkTimeGuard& operator=(const WorkTimeGuard&) = delete;
  ~WorkTimeGuard() { times_.end(); }

 private:
  WorkTimes& times_;
};

/// The file in the folder that a run's keeper dates at its end.
inline constexpr const char* kEndOfWork = "ended";

/// How long after its last sign of life a killed process may have worked: its commands are killed at
/// once, which takes longer on a busy machine. What is written in this time is the run's, to go on
/// with; to be undone it has to be so beyond doubt.
inline constexpr std::chrono::milliseconds kPerhapsAfterLife{1000};
inline constexpr std::chrono::milliseconds kSurelyAfterLife{400};

/// Ends the times of a process that is dead. Call it before a new one of the same run records any.
/// @throws Error
void end_dead_times(const std::filesystem::path& folder, std::chrono::milliseconds tail);

/// The recorded times, in their order. A time without an end ends when the keeper did, or else
/// `tail` after the last sign of life. Empty if nothing was begun.
std::vector<WorkTime> read_work_times(const std::filesystem::path& folder,
                                      std::chrono::milliseconds tail = kPerhapsAfterLife);

bool is_within(const std::vector<WorkTime>& times, std::int64_t stamp);

}  // namespace sortie
