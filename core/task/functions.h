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
/// Errors become findings, at their place in the manifest if it can be read. Names are unique and
/// not those of built-in or MCP tools; each schema can be checked in full; each placeholder of
/// `run` is a parameter, and none of them names the program or is a shell's script.
/// @param path   absolute
/// @param named  the path as the task has it, for messages
/// @param at     the place in the task
std::vector<TaskFunction> read_functions(const std::filesystem::path& path,
                                         const std::string& named, const TextPlace& at,
                                         Diagnostics& findings);

/// Reads a manifest from text.
/// @param source  added to `findings` before, with its text
std::vector<TaskFunction> parse_functions(std::size_t source, Diagnostics& findings);

/// The functions with every default, as JSON: what the task's digest covers.
Json functions_json(const std::vector<TaskFunction>& functions);

/// JSON Schema (draft 2020-12) of a manifest, from the loader's own table.
Json functions_schema();

}  // namespace sortie
