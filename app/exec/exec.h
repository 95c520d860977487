#pragma once

#include "app/exec/exec_options.h"
#include "app/inputs/options.h"
#include "core/base/exit_code.h"

namespace sortie {

/// `sortie exec`: a prompt with the command line, events and status of `codex exec`.
/// @return  0 a completed turn, 1 anything that failed, 2 a wrong command line, 130 and 143 signals;
///          failures have been printed on stderr
ExitCode run_exec(ExecOptions options, OutputStyle style);

}  // namespace sortie
