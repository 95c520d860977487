#pragma once

#include <string>
#include <vector>

#include "core/json/json.h"
#include "core/json/schema_finding.h"

namespace sortie {

/// What keeps a JSON Schema from OpenAI's strict mode, in which the provider holds the model to the
/// schema while it writes; none when it may be sent with `strict: true`.
///
/// In doubt a keyword counts as not allowed: a schema sent strictly that the provider refuses ends
/// the run, one that is not is still checked here.
///
/// @param schema  one that JsonSchema takes
/// @return        at most 20 findings; `path` is a JSON pointer into the schema
///
/// Source: the provider's guide "Structured model outputs", section "Supported schemas" (as of
/// February 2026), and the messages of its API about schemas it refused.
std::vector<SchemaFinding> strict_mode_findings(const Json& schema);

/// One line for people: "#/properties/a: keyword 'minLength' is not allowed; …", the first three
/// and how many there are besides; "" for none.
std::string describe_strict_findings(const std::vector<SchemaFinding>& findings);

}  // namespace sortie
