#pragma once

#include <filesystem>

#include "app/batch/batch_job.h"
#include "core/json/json.h"

namespace sortie {

/// The result.json in a run's folder; null if there is none that can be read.
Json result_in(const std::filesystem::path& folder);

/// Fills in the row how the run ended: as its folder says it or, where that says nothing of this end, as its
/// process does.
/// @param job     its process has ended
/// @param folder  of the run
void read_run_end(BatchJob& job, const std::filesystem::path& folder);

}  // namespace sortie
