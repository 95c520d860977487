#pragma once

#include <string>

#include "app/run/signals.h"
#include "core/base/exit_code.h"

namespace sortie {

/// Ends the run with an exit code that is not a failure of the program; caught only in run.cpp.
struct RunEnds {
  ExitCode code;
  std::string reason;
  std::string next{};
  std::string kind{};  ///< as in LoopResult, or kNoChanges
};

/// RunEnds::kind if the verification has failed in its last round.
inline constexpr const char* kFailedVerification = "verification";
/// RunEnds::kind if the task expects changes and there are none.
inline constexpr const char* kNoChanges = "no_changes";

/// @throws RunEnds  a signal has asked the run to stop
void end_if_stopped(const Signals& signals);

}  // namespace sortie
