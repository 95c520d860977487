#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <thread>

namespace sortie {

/// Called repeatedly during long work; throws to cancel it.
using CancelCheck = std::function<void()>;

/// Splits [0, size) into a few parts, runs each in a thread and returns when all are done. Runs
/// them sequentially if there is too little work to start threads, or threads can't be started.
/// @param may_begin  whether a part may begin at an index; else it begins at the next one that may
/// @param part       processes [first, last); throws nothing
void parallel_for(std::size_t size, const std::function<bool(std::size_t index)>& may_begin,
                  const std::function<void(std::size_t first, std::size_t last)>& part);

/// A stop source that is triggered by another token or at a time, whichever is first. A thread of
/// its own waits for the time; the stop is requested from other threads.
class DeadlineStop {
 public:
  DeadlineStop(const std::stop_token& stop, std::chrono::steady_clock::time_point time);
  DeadlineStop(const DeadlineStop&) = delete;
  DeadlineStop& operator=(const DeadlineStop&) = delete;

  std::stop_token token() const noexcept { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::stop_callback<std::function<void()>> relay_;
  std::jthread timer_;  ///< last, so that it ends before the members it uses
};

}  // namespace sortie
