#pragma once

#include <string>

#include "core/json/json.h"

namespace sortie::test {

/// Checks a request body against the provider's published CreateResponse schema
/// (tests/data/openai-schemas.json), and refuses members and item types that the schema, being
/// open, would pass over. Beside the schema, what the provider's servers check: each call has one
/// output behind it, and each output its call. "" when it is valid, else what is wrong.
std::string check_responses_request(const Json& body);

/// The same for CreateChatCompletionRequest. Beside the schema, what the provider's servers check:
/// after a message with calls come its outputs, one each, before anything else.
std::string check_chat_request(const Json& body);

}  // namespace sortie::test
