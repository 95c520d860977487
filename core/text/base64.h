#pragma once

#include <string>
#include <string_view>

namespace sortie {

/// RFC 4648 §4, padded.
std::string base64_encoded(std::string_view bytes);

/// The bytes of a base64 text (RFC 4648 §4 and §5, padding optional); "" where it is none.
std::string base64_decoded(std::string_view text);

}  // namespace sortie
