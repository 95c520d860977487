#pragma once

#include <string>
#include <vector>

#include "core/json/json.h"
#include "core/model/model.h"
#include "core/model/tool_calls.h"

namespace sortie {

/// Sorts a complete response's output items into those to be used and findings.
///
/// @param calls    of this response
/// @param refusal  set to the provider's words where the model refused
void read_output_items(std::vector<Json> output, CallReader& calls, Response& response,
                       std::string& refusal);

}  // namespace sortie
