#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/json/json.h"
#include "core/json/json_schema.h"
#include "tools/offered_tools.h"

namespace sortie {

/// The arguments of a call.
struct CallArguments {
  Json values;                       ///< an object, valid for the tool's schema
  std::vector<std::string> ignored;  ///< members that the schema does not allow: "plan[].id"
};

/// The arguments of a call are not a JSON object.
class UnusableArguments : public ToolError {
  using ToolError::ToolError;
};

/// Reads the call's arguments: aliases are renamed, and members that the schema does not allow are
/// dropped on all levels that its `properties` and `items` describe. For our own tools, members
/// that the schema does not name are dropped too. A custom tool's text becomes {"input": TEXT}.
/// @throws UnusableArguments
/// @throws ToolError  each invalid argument, and what the schema expects there: "/limit: wrong type
///                    (expected: a whole number from 1 to 5000)"
CallArguments read_arguments(const ToolCall& call, const OfferedTool& offered);

}  // namespace sortie
