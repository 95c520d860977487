#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "app/artifacts/output_folder.h"
#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"
#include "app/run/run_apply.h"
#include "ci/attempts.h"
#include "ci/result.h"
#include "core/secrets/redact.h"

namespace sortie {

/// What the end of several attempts is made of. Everything in it outlives the call.
struct AttemptsEnd {
  const RunInputs& inputs;
  const RunOptions& options;
  const OutputFolder& out;
  RunApply& apply;
  const std::string& run_key;
  const std::vector<AttemptEnd>& attempts;
  const AttemptEnd& picked;
  SharedBudget::Use used;              ///< by all of them
  Json lost;                           ///< lost_json()
  std::chrono::milliseconds duration;  ///< of all of them
  int events = -1;  ///< what the picked one wrote on stdout; -1: not all of it is there
  const OutputStyle& style;
  const Redactor& redactor;            ///< with what this process knows
  const std::string& unknown_secrets;  ///< why that is not all; "" if it is
};

/// Copies the picked attempt's artifacts to the top of --out, writes the files of the flags and
/// result.json, and prints on stdout what the run has to print there.
/// @return  the outcome, for the last line: code, reason, next step
RunResult end_attempts(const AttemptsEnd& end);

}  // namespace sortie
