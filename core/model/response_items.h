#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/model/model.h"

namespace sortie {

/// Sorts a complete response's output items into those to be used and findings.
///
/// @param refusal  set to the provider's words where the model refused
void read_output_items(const std::vector<Json>& output, Response& response, std::string& refusal);

}  // namespace sortie
