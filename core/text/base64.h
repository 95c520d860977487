#pragma once

#include <string>
#include <string_view>

namespace sortie {

/// The bytes in base64 (RFC 4648 §4), padded.
std::string base64_encoded(std::string_view bytes);

/// The bytes of a base64 text (RFC 4648 §4 and §5, padding optional); "" if it is invalid.
std::string base64_decoded(std::string_view text);

}  // namespace sortie
