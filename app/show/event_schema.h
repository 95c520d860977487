#pragma once

#include "core/json/json.h"

namespace sortie {

/// JSON Schema (draft 2020-12) of a line of `run --json`: `sortie schema event`.
Json event_schema();

}  // namespace sortie
