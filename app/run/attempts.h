#pragma once

#include <functional>

#include "app/artifacts/output_folder.h"
#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"
#include "app/run/attempt.h"
#include "core/base/exit_code.h"

namespace sortie {

/// One run from its inputs to its artifacts in a folder that is prepared for it; the last parameter is
/// null for a run by itself.
using RunOne = std::function<ExitCode(RunInputs, const RunOptions&, const OutputStyle&,
                                      OutputFolder&, Previous, const Attempt*)>;

/// What several attempts are made of. Everything in it outlives the call.
struct AttemptsParts {
  const RunInputs& inputs;
  const RunOptions& options;  ///< with stdout resolved
  const OutputStyle& style;
  const Json& key_parts;  ///< run_key_parts()
  OutputFolder& out;      ///< prepared for them
  Previous previous;      ///< of what was found there
  const RunOne& run;
};

/// `best_of`: several attempts at one task, each a run in a process and a folder of its own
/// (OUT/attempt-N), on one budget. The artifacts of the picked one are copied to the top of --out.
/// This process holds no key, and has one thread.
/// @throws Error  nothing was started
ExitCode run_attempts(const AttemptsParts& parts);

}  // namespace sortie
