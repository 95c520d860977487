#pragma once

#include <map>
#include <set>
#include <string>

#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"
#include "core/task/variables.h"
#include "policies/bounds/task_gate.h"

namespace sortie {

/// What the flags say of variables, and which of it came out of a file.
struct FlagVariables {
  std::map<std::string, std::string> values;
  std::set<std::string> from_files;
};

/// Reads --var and --var-file.
/// @throws InputError
FlagVariables flag_variables(const RunOptions& options, const TaskGate& gate);

/// Where the prompts' variables come from. Notes in `inputs.variables` what each source has brought
/// in, for the run key. `inputs` and `gate` outlive it.
VariableSources make_sources(RunInputs& inputs, FlagVariables flags, const TaskGate& gate);

}  // namespace sortie
