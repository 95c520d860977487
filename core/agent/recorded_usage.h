#pragma once

#include "core/json/json.h"
#include "core/model/model.h"

namespace sortie {

/// The tokens of a record: what to_json(Usage) of core/agent/events.h wrote; 0 where one is
/// missing.
Usage recorded_usage(const Json& tokens);

}  // namespace sortie
