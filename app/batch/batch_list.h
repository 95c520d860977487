#pragma once

#include "app/batch/batch_options.h"
#include "core/base/exit_code.h"

namespace sortie {

/// Prints the runs that the manifest makes, and starts none.
/// @throws InputError
ExitCode list_batch(const BatchOptions& options);

}  // namespace sortie
