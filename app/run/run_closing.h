#pragma once

#include "app/run/run_parts.h"
#include "core/base/exit_code.h"

namespace sortie {

/// Ends every run, however far it came: no process is left, artifacts, the end of the transcript,
/// result.json, the last line. Does not throw.
/// @param run  with its code and reason; an end that fails makes a success none
/// Never inlined: `bench/counts` counts from its call on.
[[gnu::noinline]] ExitCode close_run(RunParts& run);

}  // namespace sortie
