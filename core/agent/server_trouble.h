#pragma once

#include <string>

#include "core/json/json.h"

namespace sortie {

/// What the data of an `mcp.server` tell of trouble with a server of tools, as a sentence for
/// people; "" where there is none.
std::string server_trouble(const Json& data);

}  // namespace sortie
