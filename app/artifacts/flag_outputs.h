#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "app/artifacts/held_output.h"
#include "app/inputs/inputs.h"
#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"

namespace sortie {

/// Replaces names of descriptor 1 in --diff and --output-last-message by "-". Only one of these and
/// --json may use stdout.
/// @throws InputError  two of them use it
void resolve_stdout(RunOptions& options);

/// Checks the files of --diff, --output-last-message, --record and --anchor before anything is started. A
/// regular file or a new name is replaced by the run; a pipe, a terminal, a device or a descriptor
/// (/dev/fd/N) is written to. All else is refused: folders, links to files, block devices, files
/// that the run reads (task, policy, their files, keys), anything in --out, a folder that is missing
/// or can't be written to; for --anchor also the standard streams and the workspace.
/// @throws InputError  all errors at once
void check_flag_outputs(const RunOptions& options, const RunInputs& inputs);

/// Checks that no two flags of outputs, --status-file among them, name one file: by the same path, through
/// a link, or by another name of it (hard link).
/// @throws InputError
void check_distinct_outputs(const RunOptions& options);

/// Opens where --diff and --output-last-message are written, before any command runs.
/// @throws InputError
std::shared_ptr<const HeldOutputs> hold_outputs(const RunOptions& options);

/// Removes the regular files of RunOptions::held, so that nobody takes a stale one for this run's.
/// @throws Error  ExitCode::usage
void remove_stale(const RunOptions& options);

/// Writes the files of RunOptions::held after a successful run. Waits for the reader of a pipe no
/// longer than WriteLimits say.
/// @throws Error  ExitCode::environment, with the path and the cause; integrity: HeldOutput::write()
void write_flag_files(const RunOptions& options, std::string_view diff, std::string_view message,
                      const std::stop_token& stop);

}  // namespace sortie
