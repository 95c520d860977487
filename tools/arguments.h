#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/json/json.h"
#include "core/json/json_schema.h"
#include "tools/offered_tools.h"

namespace sortie {

/// What a call wants of its tool.
struct CallArguments {
  Json values;                       ///< an object that fits the tool's schema
  std::vector<std::string> ignored;  ///< members that the schema does not let in: "plan[].id"
};

/// The arguments of a call are no JSON object.
class UnusableArguments : public ToolError {
  using ToolError::ToolError;
};

/// The call's arguments under the schema's own names, without the members that the schema does not
/// let in, on all levels that its `properties` and `items` describe. Of tools of ours those that it
/// does not name go too. A custom tool's text is {"input": TEXT}.
/// @throws UnusableArguments
/// @throws ToolError  what does not fit, with what the schema wants there: "/limit: wrong type
///                    (wanted: a whole number from 1 to 5000)"
CallArguments read_arguments(const ToolCall& call, const OfferedTool& offered);

}  // namespace sortie
