#pragma once

#include <string>

#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"

namespace sortie {

/// A new id of a run: a UUID of version 7 (RFC 9562 §5.7), which sorts by time.
std::string new_run_id();

/// Checks flags whose values do not depend on task and policy. load_inputs() does so, too.
/// @throws InputError
void check_flags(const RunOptions& options);

/// Loads task and policy, applies the flags, replaces the variables, and checks the task against the
/// policy's bounds.
/// @throws InputError  the errors of files and flags, as many at once as possible
RunInputs load_inputs(const RunOptions& options);

}  // namespace sortie
