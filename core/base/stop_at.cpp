#include "core/base/stop_at.h"

#include <condition_variable>
#include <mutex>

namespace sortie {

StopAt::StopAt(const std::stop_token& stop, std::chrono::steady_clock::time_point time)
    : relay_(stop, [this] { source_.request_stop(); }), timer_([this, time](std::stop_token over) {
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        wake.wait_until(lock, over, time, [] { return false; });
        if (!over.stop_requested()) source_.request_stop();
      }) {}

}  // namespace sortie
