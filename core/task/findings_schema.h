#pragma once

#include "core/json/json.h"

namespace sortie {

/// The schema of `output.findings`: {"findings": [{"file", "line", "severity", "message",
/// "suggestion"}]}. severity is error, warning or note, as in SARIF; suggestion may be null. Within
/// OpenAI's strict mode.
Json findings_schema();

}  // namespace sortie
