#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sortie {

/// Escapes a text as in a JSON string, without the quotes.
std::string escaped_text(std::string_view text);

/// Offset of the quote that ends the escaped text beginning at `from`; npos if there is none.
std::size_t escaped_end(std::string_view text, std::size_t from) noexcept;

/// Undoes escaped_text(), in parts, so that megabytes of text are not held twice.
/// @throws JsonError  if it is not the content of a JSON string
std::string unescaped_text(std::string_view escaped);

}  // namespace sortie
