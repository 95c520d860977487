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

/// The denied command, or the tool with its path, in quotes, as it could be pasted.
std::string denied_text(const Denial& denial);

/// "a connection to 'example.org:443'"
std::string denied_text(const DeniedHost& one);

/// What to do about the end of a run that does not know it itself: one sentence, never "".
std::string next_step(const EndFacts& facts);

/// What to do where --apply could not write the diff, which is in that file.
std::string after_failed_apply(const std::string& diff);

/// The cause of a run that changed nothing, with what was denied to it and the agent's own words;
/// the reason as it is for all others.
std::string full_reason(const EndFacts& facts);

/// Whether the same command may succeed later, if the exit code alone does not tell.
std::optional<bool> retryable_by(const EndFacts& facts);

}  // namespace sortie
