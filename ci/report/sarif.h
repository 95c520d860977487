#pragma once

#include <string>

#include "ci/report/run_story.h"
#include "core/json/json.h"

namespace sortie {

/// The findings of a run's answer ({file, line, severity, message, suggestion}) as a log of static
/// analysis, SARIF 2.1.0, as code scanning takes it. A place that is no path below the repository is
/// left out; the finding stays.
Json sarif_json(const RunStory& story);

/// The same as a document.
std::string sarif_text(const RunStory& story);

}  // namespace sortie
