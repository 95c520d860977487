#pragma once

#include <string>

#include "core/json/json.h"

namespace sortie::test {

/// Checks a request body of the Messages format against the schema written down from the API's
/// reference (tests/data/anthropic-messages-request.schema.json), and for what no schema says: the
/// roles take turns, the user's first; each tool_use has its one tool_result in the very next
/// message, before all else in it; the history has one mark for the cache at most, the whole four;
/// thinking fits the rest of the settings. "" when it is valid, else what is wrong.
std::string check_messages_request(const Json& body);

}  // namespace sortie::test
