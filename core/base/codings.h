#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// The texts that say the same as a value, in the codings that tools print.
struct Codings {
  /// As it stands, escaped for JSON (also twice, and as HTML-safe encoders do), URL, form, HTML and
  /// shell words, and as UTF-16.
  std::vector<std::string> whole;
  /// Base64 (any alignment, both alphabets; also twice, and of UTF-16) and hex: what tools wrap, so
  /// that line breaks may stand inside.
  std::vector<std::string> wrapped;
};

/// @param value  not empty
/// @return each text once; of base64 what depends on nothing but the value, which leaves up to one
///         character of it on either side
Codings codings_of(std::string_view value);

/// The bytes of a base64 text (RFC 4648 §4 and §5, padding optional); "" where it is none.
std::string base64_decoded(std::string_view text);

/// With %XX decoded (RFC 3986 §2.1); what is no such escape stays.
std::string url_decoded(std::string_view text);

}  // namespace sortie
