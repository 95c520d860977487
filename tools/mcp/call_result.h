#pragma once

#include "core/json/json.h"
#include "tools/tool.h"

namespace sortie::mcp {

/// What the model and the transcript get of the result of tools/call: text as plain_text() has it,
/// images as images, embedded resources by their text, links and what can't be shown by a line,
/// structured content as JSON where no text says the same. `server_answer` is
/// {"content","structured_content"}, as the server said it.
/// @param output_schema  of the structured content; null for none
ToolResult read_call_result(const Json& result, const Json& output_schema);

}  // namespace sortie::mcp
