#pragma once

#include <optional>

#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"
#include "core/rates/rate_limits.h"

namespace sortie {

/// Reads the file of --rate-limits; nothing without the flag. Opens the state that it names, which is
/// made if it is not there: what is wrong with it is told before the run starts. A replay, which sends
/// no requests, opens none.
/// @throws InputError  also for a state in --out, or in the user's own tree where the run works
/// @throws Error       environment: the state can't be made
std::optional<RateLimits> check_rate_limits(const RunInputs& inputs, const RunOptions& options);

}  // namespace sortie
