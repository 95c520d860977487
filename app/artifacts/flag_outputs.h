#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "app/inputs/inputs.h"
#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"

namespace sortie {

/// One of --json, --diff and --output-last-message may have stdout: "-", or a name of descriptor 1,
/// which becomes "-".
/// @throws InputError  two of them ask for it
void settle_stdout(RunOptions& options);

/// Looks at what --diff, --output-last-message and --record name, before anything is started. A
/// regular file or a new name is replaced by the run; a pipe, a terminal, a device or a descriptor
/// (/dev/fd/N) is written into. All else is refused: folders, links to files, block devices, what
/// the run reads (task, policy, their files, keys), anything in --out, a folder that is missing or
/// that can't be written to.
/// @throws InputError  all of it at once
void check_flag_outputs(const RunOptions& options, const RunInputs& inputs);

/// Removes the regular files that --diff and --output-last-message name: no stale one is ever taken
/// for this run's.
/// @throws Error  ExitCode::usage
void remove_stale(const RunOptions& options);

/// Writes what those flags ask for, of a successful run. Nobody who reads a pipe is waited for
/// longer than WriteLimits say.
/// @throws Error  ExitCode::environment, with the path and the cause
void write_flag_files(const RunOptions& options, std::string_view diff, std::string_view message,
                      const std::stop_token& stop);

}  // namespace sortie
