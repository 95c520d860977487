#include "app/run/run_ends.h"

#include <csignal>

namespace sortie {

void end_if_stopped(const Signals& signals) {
  if (!signals.token().stop_requested()) return;
  const int signal = signals.received();
  throw RunEnds{signal == SIGINT ? ExitCode::interrupted : ExitCode::terminated,
                std::string("stopped by ") + signal_name(signal), "the same command again"};
}

}  // namespace sortie
