#include "app/setup/run_rates.h"

#include <utility>

#include "core/rates/rate_limiter.h"

namespace sortie {

RunRates::RunRates(const RateLimits& limits, Clock& clock, std::stop_token stop,
                   std::function<void(const std::string&)> say)
    : limits_(limits),
      clock_(clock),
      file_({.path = limits.state,
             .owner = limits.owner,
             .time = time_,
             .clock = clock,
             .stop = std::move(stop),
             .say = std::move(say)}) {}

RequestPacer* RunRates::pacer_for(const ModelChoice& choice) {
  const ProviderRate* const limit = limits_.find(choice.provider->name, choice.endpoint.base);
  if (limit == nullptr) return nullptr;
  // Anthropic's limits of input tokens do not count those that were read from its cache.
  const CountedInput counted =
      choice.provider->wire == "messages" ? CountedInput::uncached : CountedInput::all;
  pacers_.push_back(std::make_unique<RateLimiter>(RateLimiter::Parts{.name = limit->name,
                                                                     .pace = pace_of(*limit),
                                                                     .counted = counted,
                                                                     .store = file_,
                                                                     .clock = clock_}));
  return pacers_.back().get();
}

}  // namespace sortie
