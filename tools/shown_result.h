#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/agent/tool_host.h"
#include "core/secrets/redact.h"
#include "tools/tool.h"

namespace sortie {

class SavedOutputs;

/// How results are shown.
struct ResultView {
  const Redactor& redactor;
  std::size_t shown_output = 10u << 10;  ///< bytes of an output that the model sees
  SavedOutputs* outputs = nullptr;  ///< keeps the texts that are shown in part; null: nobody does
};

/// What the model and the transcript get of a call that was run: redacted, the output cut, and whole
/// in a file where it is shown in part.
/// @param remarks  for the model, after the output; "" for none
CallRecord shown_result(ToolResult result, const std::vector<std::string>& remarks,
                        const ResultView& view);

}  // namespace sortie
