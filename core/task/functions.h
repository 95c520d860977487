#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/config/diagnostic.h"
#include "core/json/json.h"
#include "core/task/task.h"

namespace sortie {

/// Reads a manifest of functions: a JSON array of objects.
///
/// What is wrong becomes findings, in the manifest's own text where it can be read. Names are
/// unique, none of a built-in tool nor of MCP's; each schema is one that can be checked in full;
/// each placeholder of `run` is a parameter, and none of them names the program or is a script.
/// @param path   absolute
/// @param named  as the task names it, for messages
/// @param at     where in the task
std::vector<TaskFunction> read_functions(const std::filesystem::path& path,
                                         const std::string& named, const TextPlace& at,
                                         Diagnostics& findings);

/// The same of a text that was read.
/// @param source  added to `findings` before, with its text
std::vector<TaskFunction> parse_functions(std::size_t source, Diagnostics& findings);

/// The functions with every default, as JSON: what the task's digest covers.
Json functions_json(const std::vector<TaskFunction>& functions);

/// JSON Schema (draft 2020-12) of a manifest, from the loader's own table.
Json functions_schema();

}  // namespace sortie
