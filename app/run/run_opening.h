#pragma once

#include "app/run/run_parts.h"

namespace sortie {

/// Opens a run: takes up what was found, isolates the workspace, forks the keeper, and begins the
/// record. Nothing of the agent runs before this, and no key is read before the keeper is forked.
/// @throws Error  the run ends with its code
void open_run(RunParts& run);

}  // namespace sortie
