#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "app/inputs/provider_choice.h"
#include "core/base/clock.h"
#include "core/provider/request_pacer.h"
#include "core/rates/boot_time.h"
#include "core/rates/rate_limits.h"
#include "core/rates/rate_state_file.h"

namespace sortie {

/// The limits that a run shares with others, for its models.
class RunRates {
 public:
  /// Opens the state: in each process anew, since processes that share an open file share its lock.
  /// @param say  gets lines for the operator
  /// @throws Error  as RateStateFile
  RunRates(const RateLimits& limits, Clock& clock, std::stop_token stop,
           std::function<void(const std::string&)> say);

  /// For the requests to a model; null if nothing limits them.
  RequestPacer* pacer_for(const ModelChoice& choice);

 private:
  const RateLimits& limits_;
  Clock& clock_;
  SystemBootTime time_;
  RateStateFile file_;
  std::vector<std::unique_ptr<RequestPacer>> pacers_;
};

}  // namespace sortie
