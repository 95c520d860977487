#include "core/base/threads.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace sortie {
namespace {

/// More than most machines have processors: work on many files mostly waits for a disk, to read or
/// to discard freed blocks.
constexpr std::size_t kMostParts = 8;
constexpr std::size_t kWorthAThread = 32;  ///< as many files: a start takes what one or two do

/// The beginnings of the parts, and the end of the last one.
std::vector<std::size_t> bounds_of(std::size_t size,
                                   const std::function<bool(std::size_t)>& may_begin) {
  const std::size_t parts = std::clamp<std::size_t>(size / kWorthAThread, 1, kMostParts);
  std::vector<std::size_t> bounds{0};
  for (std::size_t i = 1; i < parts; ++i) {
    std::size_t begin = std::max(bounds.back() + 1, size * i / parts);
    while (begin < size && !may_begin(begin)) ++begin;
    if (begin < size) bounds.push_back(begin);
  }
  bounds.push_back(size);
  return bounds;
}

}  // namespace

void parallel_for(std::size_t size, const std::function<bool(std::size_t)>& may_begin,
                  const std::function<void(std::size_t, std::size_t)>& part) {
  const auto bounds = bounds_of(size, may_begin);
  std::vector<std::thread> others;
  others.reserve(bounds.size());
  std::size_t begun = 1;  // the first part is this thread's
  try {
    for (; begun + 1 < bounds.size(); ++begun)
      others.emplace_back(part, bounds[begun], bounds[begun + 1]);
  } catch (const std::system_error&) {  // no more threads
  }
  part(bounds[0], bounds[1]);
  for (; begun + 1 < bounds.size(); ++begun) part(bounds[begun], bounds[begun + 1]);
  for (auto& other : others) other.join();
}

DeadlineStop::DeadlineStop(const std::stop_token& stop, std::chrono::steady_clock::time_point time)
    : relay_(stop, [this] { source_.request_stop(); }), timer_([this, time](std::stop_token over) {
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        wake.wait_until(lock, over, time, [] { return false; });
        if (!over.stop_requested()) source_.request_stop();
      }) {}

}  // namespace sortie
