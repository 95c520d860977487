#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/json/json.h"

namespace sortie {

/// The values of codex's configuration by their dotted keys, "model_providers.x.base_url". A table
/// stands as its values; an empty one as none.
using ConfigValues = std::map<std::string, Json>;

/// Adds the values of `key=value`, as -c has it: the value is TOML, and what is none is a string as it
/// stands. Replaces what the key had.
/// @throws InputError  no key, or no '='
void add_assignment(std::string_view assignment, ConfigValues& values);

/// The values of a TOML file. @param name  of the file, for errors
/// @throws InputError  with FILE:LINE:COLUMN
ConfigValues config_of(std::string_view toml, const std::string& name);

}  // namespace sortie
