#pragma once

#include <filesystem>
#include <vector>

#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"

namespace sortie {

/// The paths that a run may write in its workspace that are no part of its work: --out with its
/// neighbour, and the files of the flags, and what runs share.
/// @param out  --out, links resolved
std::vector<std::filesystem::path> own_outputs(const std::filesystem::path& out,
                                               const RunInputs& inputs, const RunOptions& options);

}  // namespace sortie
