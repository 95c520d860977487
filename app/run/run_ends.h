#pragma once

#include <string>

#include "app/run/signals.h"
#include "core/base/exit_code.h"

namespace sortie {

/// Ends the run with a code that is no failure of the program; caught by run_task() alone.
struct RunEnds {
  ExitCode code;
  std::string reason;
  std::string next{};
};

/// @throws RunEnds  where a signal has asked the run to stop
void end_if_stopped(const Signals& signals);

}  // namespace sortie
