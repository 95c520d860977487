#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "core/catalog/item.h"
#include "core/model/model.h"

namespace sortie {

/// What a request may take, by estimate.
struct RequestSize {
  std::int64_t input_tokens = 0;
  std::int64_t max_output_tokens = 0;
};

/// One request to a provider whose limits are shared with others: it is sent when its turn has come.
/// Its place among those that wait is the same for all its attempts. Destroying it gives that up.
class PacedRequest {
 public:
  enum class Ending {
    turn,         ///< it may be sent now
    out_of_time,  ///< the deadline has come first
    paused,       ///< the provider asked all to wait past the deadline
  };
  struct Wait {
    Ending ending = Ending::turn;
    std::chrono::milliseconds pause{0};  ///< what is left of the time that the provider asked for
  };
  using Told = std::function<void(const PacedWait& wait)>;

  virtual ~PacedRequest() = default;
  /// Waits for the turn of the next attempt.
  /// @param told  gets a wait that may be long when it begins, and each one when it is over
  /// @throws Stopped  if a stop was requested
  /// @throws Error    the shared state can't be had
  virtual Wait wait(std::chrono::steady_clock::time_point deadline, std::stop_token stop,
                    const Told& told) = 0;
  /// The attempt is over.
  /// @param usage  what the provider counted; nothing: the estimate stands
  virtual void settle(const std::optional<Usage>& usage) = 0;
  /// The attempt was refused for the provider's limits: everybody waits.
  /// @param retry_after  what the provider asked for; nothing: it named no time
  virtual void refuse(std::optional<std::chrono::milliseconds> retry_after) = 0;
};

/// Keeps the requests of several runs within what a provider allows.
class RequestPacer {
 public:
  virtual ~RequestPacer() = default;
  virtual std::unique_ptr<PacedRequest> begin(const RequestSize& size) = 0;
};

}  // namespace sortie
