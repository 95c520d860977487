#pragma once

#include <string>
#include <string_view>

namespace sortie {

/// A text as it stands in a JSON string, without the quotes.
std::string escaped_text(std::string_view text);

/// What escaped text says. In parts, so that a text of megabytes is not held twice over while it is
/// read.
/// @throws JsonError  where it makes no JSON string
std::string unescaped_text(std::string_view escaped);

}  // namespace sortie
