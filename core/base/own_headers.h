#pragma once

#include <string_view>

namespace sortie {

/// Whether a header of a request to a model is none that a task may set: it carries a credential,
/// says on whose account the request is, frames the message, or is one that sortie itself writes.
/// In any letter case.
bool is_own_header(std::string_view name);

}  // namespace sortie
