#pragma once

#include <string>

#include "app/show/job_notes.h"
#include "ci/result.h"
#include "ci/tally.h"
#include "core/secrets/redact.h"

namespace sortie {

/// The notes that a CI system gets at a run's end: its warnings; of a run that is no success also the
/// outcome, the places that the failed verification names, and what was denied, at the rule that
/// did it.
std::string end_notes(const CiLog& log, const RunResult& result, const Tally& tally,
                      const NotedTree& tree, const Redactor& redactor);

}  // namespace sortie
