#pragma once

#include <string>
#include <vector>

#include "core/json/json.h"

namespace sortie {

/// What is wrong with an element of an argv that has placeholders, and the name that was probably
/// meant.
struct ArgvProblem {
  std::string message;
  std::string nearest{};
};

/// Checks one element of a function's argv. `{{arg}}` within an element is replaced by one argument
/// of the call; `{{paths...}}`, an element of its own, by one element for each item of an array.
/// `\{{` is the literal `{{`.
/// @param parameters  JSON Schema of the arguments
std::vector<ArgvProblem> check_argv_element(const std::string& element, const Json& parameters);

/// Whether the element has a placeholder.
bool has_placeholder(const std::string& element);

/// The argv for the arguments of a call. An argument that is missing or null has its `default` from
/// the schema; without a default, the element that needs it is left out. Strings are inserted as
/// they are, other values as JSON.
///
/// An element that begins with text of the model and with '-' would be an option to most programs:
/// it is refused, unless an element `--` precedes it. Numbers may be negative if the element has no
/// string of the model.
/// @throws ToolError  worded for the model
std::vector<std::string> fill_argv(const std::vector<std::string>& elements, const Json& parameters,
                                   const Json& arguments);

}  // namespace sortie
