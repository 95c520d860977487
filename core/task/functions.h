#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/config/diagnostic.h"
#include "core/json/json.h"
#include "core/task/task.h"

namespace sortie {

/// The argv for the arguments of a call. `{{arg}}` within an element is replaced by one argument;
/// `{{paths...}}`, an element of its own, by one element for each item of an array; `\{{` is the
/// literal `{{`. An argument that is missing or null has its `default` from the schema; without a
/// default, the element that needs it is left out. Strings are inserted as they are, other values as
/// JSON.
///
/// An element that begins with text of the model and with '-' would be an option to most programs:
/// it is refused, unless an element `--` precedes it. Numbers may be negative if the element has no
/// string of the model.
/// @throws ToolError  worded for the model
std::vector<std::string> fill_argv(const std::vector<std::string>& elements, const Json& parameters,
                                   const Json& arguments);

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
