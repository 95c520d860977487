#pragma once

#include <filesystem>

#include "core/batch/manifest.h"

namespace sortie {

/// The file for each run's --rate-limits: the manifest's own, or one that is written into the batch's state
/// and whose state all runs share; "" if the manifest limits no provider.
std::filesystem::path rate_limits_of(const Manifest& manifest, const std::filesystem::path& state);

}  // namespace sortie
