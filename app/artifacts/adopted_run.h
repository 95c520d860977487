#pragma once

#include <filesystem>

#include "app/artifacts/output_folder.h"

namespace sortie {

/// Copies the artifacts of a run in a folder below `out` to its top, as they are: all but its
/// result.json, lock and state. The transcript comes last.
/// @throws Error  a file can't be read or written
void adopt_run(const std::filesystem::path& run, const OutputFolder& out);

}  // namespace sortie
