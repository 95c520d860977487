#pragma once

#include <csignal>

#include "core/process/launcher.h"

namespace sortie {

/// The exit code by which a shell would tell how a command ended: what the model is told, and what
/// the live events have. The record has ending and code apart.
inline int shell_code(const ExitStatus& exit) {
  switch (exit.ending) {
    case Ending::exited:
      return exit.code;
    case Ending::signalled:
      return 128 + exit.code;
    case Ending::timed_out:
      return 124;  // as timeout(1), and as codex
    case Ending::cancelled:
      return 128 + SIGINT;
    case Ending::not_started:
      return 127;
    case Ending::output_limit:
    case Ending::memory_limit:
    case Ending::process_limit:
    case Ending::disk_limit:
      break;
  }
  return 128 + SIGKILL;
}

}  // namespace sortie
