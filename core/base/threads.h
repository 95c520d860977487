#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <thread>

namespace sortie {

/// Called again and again in the midst of long work; what it throws ends the work.
using CancelCheck = std::function<void()>;

/// Does [0, size) in a few parts at the same time, each in a thread, and comes back when all are
/// done. One after the other where there is too little for that to be worth a thread's start, or no
/// thread is to be had.
/// @param may_begin  whether a part may begin at an index; it begins at the next one that may
/// @param part       does [first, last); throws nothing
void parallel_for(std::size_t size, const std::function<bool(std::size_t index)>& may_begin,
                  const std::function<void(std::size_t first, std::size_t last)>& part);

/// A stop request of its own that comes with another one, or at a time, whichever is first. A
/// thread of its own waits for the time; both are asked for from other threads.
class DeadlineStop {
 public:
  DeadlineStop(const std::stop_token& stop, std::chrono::steady_clock::time_point time);
  DeadlineStop(const DeadlineStop&) = delete;
  DeadlineStop& operator=(const DeadlineStop&) = delete;

  std::stop_token token() const noexcept { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::stop_callback<std::function<void()>> relay_;
  std::jthread timer_;  ///< last, so that it is gone before what it asks
};

}  // namespace sortie
