#pragma once

#include <string>
#include <vector>

#include "app/inputs/run_inputs.h"

namespace sortie {

/// What of a task and its policy does not fit together, or probably was not meant, each with what to
/// do: tools that the model will not be shown, a budget that pays for no request, and the warnings of
/// the policy itself but for risks that a run names anyway.
std::vector<std::string> task_warnings(const RunInputs& inputs);

}  // namespace sortie
