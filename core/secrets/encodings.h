#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// Encodings of a value whose characters can't be read one by one (readings.h).
struct Codings {
  std::vector<std::string> characters;  ///< in Latin-1 and UTF-16, if different
  /// Every alignment, both alphabets; also encoded twice, and from UTF-16.
  std::vector<std::string> base64;
  std::vector<std::string> hex;
  std::string spaced;  ///< a blank between all bytes
};

/// @param value  not empty
/// @return each text once; base64 without up to one character on either side, which depends on
///         neighbouring bytes
Codings codings_of(std::string_view value);

/// The text with %XX decoded (RFC 3986 §2.1); invalid escapes stay.
std::string url_decoded(std::string_view text);

}  // namespace sortie
