#pragma once

#include <memory>

#include "core/model/item_writer.h"

namespace sortie {

/// A writer of items as the `input` of a Responses request.
///
/// What came from this provider goes back in its own bytes. Reasoning, and what a provider did by
/// itself, is told in no other way. A call of a provider's own shell that another model made is one
/// of a function here. Images stand as data URLs; an output that has some is a list of parts.
/// @param free_text_tools  the model has them: what it said to one, and got, stands as free text
std::unique_ptr<ItemWriter> responses_item_writer(bool free_text_tools);

}  // namespace sortie
