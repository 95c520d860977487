#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/provider/request_pacer.h"
#include "core/rates/rate_bucket.h"
#include "core/rates/rate_state.h"

namespace sortie {

/// Which of a prompt's tokens a provider's limit is for.
enum class CountedInput { all, uncached };

/// Paces the requests of one run to one provider, by a state that all runs share.
class RateLimiter : public RequestPacer {
 public:
  struct Parts {
    std::string name;  ///< of the queue, and for people: "openai"
    RatePace pace{};
    CountedInput counted = CountedInput::all;
    RateStore& store;
    Clock& clock;
  };
  explicit RateLimiter(Parts parts) : parts_(std::move(parts)) {}

  std::unique_ptr<PacedRequest> begin(const RequestSize& size) override;

 private:
  class Paced;
  std::int64_t counted_input(const Usage& usage) const;

  Parts parts_;
  /// Counted tokens for one that was estimated, of the last response.
  double input_ratio_ = 1;
};

}  // namespace sortie
