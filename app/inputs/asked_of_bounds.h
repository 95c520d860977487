#pragma once

#include <map>
#include <string>

#include "app/inputs/options.h"
#include "app/inputs/provider_choice.h"
#include "app/inputs/run_inputs.h"
#include "policies/bounds/bounds.h"
#include "policies/bounds/task_gate.h"

namespace sortie {

/// Whether there is a key for one of the run's models; what holds it is not opened.
bool has_key(const RunInputs& inputs, const RunOptions& options, const ModelChoice& choice);

/// What a task, the flags and the environment ask of the policy's bounds.
/// @param inputs     its task has the flags' overrides; outlives the result
/// @param variables  those that --var gives
/// @throws InputError  an address is invalid or missing
BoundsRequest asked_of_bounds(const RunInputs& inputs, const RunOptions& options,
                              const std::map<std::string, std::string>& variables,
                              const GatePlaces& places);

}  // namespace sortie
