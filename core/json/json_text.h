#pragma once

#include <cstddef>
#include <string_view>

namespace sortie {

/// How many bytes at the text's beginning stand in a JSON string as they are (RFC 8259 §7).
std::size_t unescaped_length(std::string_view text) noexcept;

/// The bytes by which a text is longer as a JSON string, without its quotes.
std::size_t escaping_bytes(std::string_view text) noexcept;

}  // namespace sortie
