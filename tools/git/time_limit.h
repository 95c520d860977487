#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/threads.h"

namespace sortie {

/// Work on a repository was cancelled: its time is up, or the run is ending.
class Cancelled : public Error {
  using Error::Error;
};

/// Cancels the work on a stop request, or when the limit has passed from now on.
/// @param clock   outlives the check
/// @param advice  appended to the message about the time limit
inline CancelCheck cancel_after(std::chrono::milliseconds limit, const Clock& clock,
                                std::stop_token stop, std::string advice = {}) {
  return [&clock, limit, deadline = clock.steady() + limit, stop = std::move(stop),
          advice = std::move(advice)] {
    if (stop.stop_requested()) throw Cancelled("the run is ending");
    if (clock.steady() >= deadline)
      throw Cancelled("not done within " + std::to_string(limit.count() / 1000) + " s" + advice);
  };
}

}  // namespace sortie
