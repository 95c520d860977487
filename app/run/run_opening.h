#pragma once

#include "app/run/run_parts.h"

namespace sortie {

/// Opens a run: takes up what was found, isolates the workspace, forks the keeper, and collects the
/// secrets. Nothing of the agent runs before this, and no key is read before the keeper is forked.
/// @throws Error  the run ends with its code
void open_run(RunParts& run);

/// Begins the record of an open run, with the event run.started. The canary may run meanwhile: it
/// records nothing. Before this, nothing must be shown that may hold a secret.
/// @throws Error  environment
void begin_record(RunParts& run);

}  // namespace sortie
