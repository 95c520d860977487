#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sortie {

/// A text as it stands in a JSON string, without the quotes.
std::string escaped_text(std::string_view text);

/// Offset of the quote that ends escaped text which begins at `from`; npos where it does not end.
std::size_t escaped_end(std::string_view text, std::size_t from) noexcept;

/// What escaped text says. In parts, so that a text of megabytes is not held twice over while it is
/// read.
/// @throws JsonError  where it makes no JSON string
std::string unescaped_text(std::string_view escaped);

}  // namespace sortie
