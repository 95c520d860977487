#pragma once

#include <string>
#include <vector>

#include "core/json/json.h"
#include "core/json/json_schema.h"

namespace sortie {

/// What becomes of members that a schema does not name, but lets in.
enum class OtherMembers { kept, dropped };

/// Takes out the members of a call's arguments that the tool's schema does not let in, on all
/// levels that its `properties` and `items` describe.
/// @param others  of the arguments themselves
/// @return        how each is called, once each: "mood", "plan[].id"
std::vector<std::string> drop_unknown(Json& arguments, const Json& parameters, OtherMembers others);

/// One line on what does not fit, with what the tool's schema wants there: "/limit: wrong type
/// (wanted: a whole number from 1 to 5000)".
std::string describe_misfit(const std::vector<SchemaFinding>& findings, const Json& parameters);

}  // namespace sortie
