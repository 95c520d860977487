#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"
#include "ci/result.h"
#include "ci/tally.h"

namespace sortie {

/// What is known of a run's end when its result is told.
struct EndFacts {
  const RunInputs& inputs;
  const RunOptions& options;
  const RunResult& result;  ///< with its code, reason and artifacts
  const Tally& tally;
  std::string kind{};          ///< of a failure: as in ModelError or LoopResult, or kNoChanges
  std::string_view message{};  ///< the agent's last one
};

/// Whether the same command may succeed later, if the exit code alone does not tell.
std::optional<bool> retryable_by(const EndFacts& facts);

}  // namespace sortie
