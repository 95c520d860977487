#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// The texts that say the same as a value where its characters can't be read one by one
/// (readings.h).
struct Codings {
  std::vector<std::string> characters;  ///< in Latin-1 and UTF-16, where they are others then
  /// Any alignment, both alphabets; also twice, and of UTF-16.
  std::vector<std::string> base64;
  std::vector<std::string> hex;
  std::string spaced;  ///< a blank between all bytes
};

/// @param value  not empty
/// @return each text once; of base64 what depends on nothing but the value, which leaves up to one
///         character of it on either side
Codings codings_of(std::string_view value);

/// With %XX decoded (RFC 3986 §2.1); what is no such escape stays.
std::string url_decoded(std::string_view text);

}  // namespace sortie
