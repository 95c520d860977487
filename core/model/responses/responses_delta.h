#pragma once

#include <string_view>

namespace sortie {

/// The event's type without parsing: the `event:` line, else the first member of the data if that is
/// `type`, as OpenAI writes it; else "".
std::string_view quick_type(std::string_view event_line, std::string_view data);

/// The text that a delta's event adds, with its escapes; "" if it is not written as providers do.
std::string_view delta_of(std::string_view data);

}  // namespace sortie
