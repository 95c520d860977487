#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/threads.h"

namespace sortie {

/// Work on a repository is given up: the time is over, or the run is to end.
class GivenUp : public Error {
  using Error::Error;
};

/// Of work that is to end within the limit, from now on.
/// @param clock   outlives the pace
/// @param advice  behind what is said of the time
inline CancelCheck pace_within(std::chrono::milliseconds limit, const Clock& clock,
                               std::stop_token stop, std::string advice = {}) {
  return [&clock, limit, deadline = clock.steady() + limit, stop = std::move(stop),
          advice = std::move(advice)] {
    if (stop.stop_requested()) throw GivenUp("the run is to end");
    if (clock.steady() >= deadline)
      throw GivenUp("not done within " + std::to_string(limit.count() / 1000) + " s" + advice);
  };
}

}  // namespace sortie
