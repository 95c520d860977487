#pragma once

#include "app/inputs/options.h"

namespace CLI {
class App;
}

namespace sortie {

/// Adds TASK, and --prompt that stands in its place.
void add_task_argument(CLI::App& app, RunOptions& options);

/// To be called before the options are used.
/// @throws InputError  both are given, or none
void settle_task_argument(RunOptions& options);

}  // namespace sortie
