#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/json/json.h"

namespace sortie {

/// The event stream that would have brought a recorded response, for a replay from a transcript;
/// nothing for a wire that is not known.
///
/// @param response  the data of a `model.response` record, its blobs read. `output`, where it has
///                  one, else `items`: the wire's own JSON (responses: output items; chat: the one
///                  assistant message; messages: content blocks)
std::optional<std::string> response_stream(std::string_view wire, const Json& response);

}  // namespace sortie
