#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

namespace sortie {

/// A stop request of its own that comes with another one, or at a time, whichever is first. A
/// thread of its own waits for the time; both are asked for from other threads.
class StopAt {
 public:
  StopAt(const std::stop_token& stop, std::chrono::steady_clock::time_point time);
  StopAt(const StopAt&) = delete;
  StopAt& operator=(const StopAt&) = delete;

  std::stop_token token() const noexcept { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::stop_callback<std::function<void()>> relay_;
  std::jthread timer_;  ///< last, so that it is gone before what it asks
};

}  // namespace sortie
