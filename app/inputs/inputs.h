#pragma once

#include <string>

#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"

namespace sortie {

/// Loads task and policy, applies the flags, replaces the variables, and checks the task against the
/// policy's bounds.
/// @throws InputError  the errors of files and flags, as many at once as possible
RunInputs load_inputs(const RunOptions& options);

/// SHA-256 of what determines a run's outcome: task, policy, variables, model, HEAD, version.
std::string run_key(const RunInputs& inputs, const std::string& head_commit);

}  // namespace sortie
