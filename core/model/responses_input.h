#pragma once

#include <string>
#include <vector>

#include "core/model/model.h"

namespace sortie {

/// Appends the items from `from` on to the `input` of a Responses request.
///
/// What came from this provider goes back in its own bytes. Reasoning, and what a provider did by
/// itself, is told in no other way. A call of a provider's own shell that another model made is one
/// of a function here. Images stand as data URLs; an output that has some is a list of parts.
void write_responses_input(const std::vector<Item>& items, std::size_t from,
                           const ModelSettings& settings, std::string& to);

}  // namespace sortie
