#pragma once

#include <string>

#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"

namespace sortie {

/// Loads task and policy, applies the flags, replaces the variables, holds the task against the
/// policy's bounds.
/// @throws InputError  everything that is wrong with a file or flag, all of it at once where it can
RunInputs load_inputs(const RunOptions& options);

/// SHA-256 over what decides a run's outcome: task, policy, variables, model, HEAD, version.
std::string run_key(const RunInputs& inputs, const std::string& head_commit);

}  // namespace sortie
