#pragma once

#include <string>
#include <vector>

#include "core/json/json.h"

namespace sortie {

// Slips of models in the arguments of a call. They are taken as meant where only one meaning is
// possible, which saves a turn; the caller tells the model and the transcript what was corrected.

/// Renames members that the schema does not know to the property that they stand for in other
/// tools: "file_path" to "path", "patch" to "input". Only if exactly one such property of this
/// schema is absent.
/// @return what was corrected: "file_path was taken as path"
std::vector<std::string> correct_names(Json& arguments, const Json& parameters);

/// Corrects values of the wrong type, on the first level: null for an optional property is left
/// out, text that spells a number, true, false, an array or an object becomes that, a number becomes
/// text. An array of strings as JSON text becomes the array where the schema takes both.
/// @return what was corrected: "limit was taken as the number 20"
std::vector<std::string> correct_values(Json& arguments, const Json& parameters);

}  // namespace sortie
