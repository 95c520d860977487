#pragma once

#include "core/json/json.h"

namespace sortie {

/// JSON Schema (draft 2020-12) of one transcript record, of any type. Unknown types and members
/// are let through: readers ignore them.
Json transcript_schema();

}  // namespace sortie
