#pragma once

#include <string_view>

namespace sortie {

/// Whether a task must not set this header of a request to a model: it carries a credential,
/// selects the account, frames the message, or is written by sortie itself. Ignores letter case.
bool is_own_header(std::string_view name);

/// Whether nobody may set it: it frames the message, or sortie itself writes it.
bool is_written_header(std::string_view name);

}  // namespace sortie
