#pragma once

#include <string>

#include "core/json/json.h"

namespace sortie {

/// JSON Schema (draft 2020-12) of one transcript record, of any type. Unknown types and members
/// are let through: readers ignore them.
Json transcript_schema();

/// The table of docs/formats.md: each type with its members and what they mean.
std::string transcript_table();

}  // namespace sortie
