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

/// Checks one element of a function's argv: `{{arg}}` stands for one argument of the call, within
/// the element; `{{paths...}}`, an element of its own, for one element for each item of an array.
/// `\{{` is the literal `{{`.
/// @param parameters  JSON Schema: which arguments there are
std::vector<ArgvProblem> check_argv_element(const std::string& element, const Json& parameters);

/// Whether the element has a placeholder.
bool has_placeholder(const std::string& element);

/// The argv for the arguments of a call. One that is missing or null is its `default` in the
/// schema; without that the element which needs it is left out. Texts go in as they are, other
/// values as JSON.
///
/// A filled element that begins with what the model gave, and with '-', would be an option to most
/// programs: it is refused, unless an element `--` stands before it. Numbers may be negative, where
/// an element has no text of the model.
/// @throws ToolError  for the model
std::vector<std::string> fill_argv(const std::vector<std::string>& elements, const Json& parameters,
                                   const Json& arguments);

}  // namespace sortie
