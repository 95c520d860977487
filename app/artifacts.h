#pragma once

#include <map>
#include <string>

#include "app/options.h"
#include "app/output_folder.h"

namespace sortie {

/// Removes what --diff and --output-last-message name: no stale file is ever taken for this run's.
/// @throws Error  ExitCode::usage
void remove_stale(const RunOptions& options);

/// Writes what those flags ask for, of a successful run.
/// @throws Error  ExitCode::environment, with the path and the cause
void write_flag_files(const RunOptions& options, const std::string& diff, std::string_view message);

/// "sha256:…"
std::string digest_of(const std::string& content);

}  // namespace sortie
