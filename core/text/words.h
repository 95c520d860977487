#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sortie {

/// As one_line(), but never cut inside a word: of half a key no redactor knows that it is one.
std::string one_line_of_words(std::string_view text, std::size_t max_bytes);

/// A name or a line for a message: one line in single quotes, cut past max_bytes.
std::string in_quotes(std::string_view text, std::size_t max_bytes = 60);

}  // namespace sortie
