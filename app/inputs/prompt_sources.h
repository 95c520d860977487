#pragma once

#include <map>
#include <set>
#include <string>

#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"
#include "core/task/variables.h"
#include "policies/bounds/task_gate.h"

namespace sortie {

/// The variables of the flags, and which of them came from a file.
struct FlagVariables {
  std::map<std::string, std::string> values;
  std::set<std::string> from_files;
};

/// Reads --var and --var-file.
/// @throws InputError
FlagVariables flag_variables(const RunOptions& options, const TaskGate& gate);

/// The sources of the prompts' variables. Each use is recorded in `inputs.variables`, for the run key.
/// `inputs` and `gate` outlive the result.
VariableSources make_sources(RunInputs& inputs, FlagVariables flags, const TaskGate& gate);

}  // namespace sortie
