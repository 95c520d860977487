#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/pattern.h"

namespace sortie {

/// The characters of a token's body.
enum class Alphabet { digits_upper, hex_lower, hex, alphanumeric, word, base64url, base64url_dots };

/// The format of an issuer's tokens, which have a prefix for scanners: one row of the table.
struct TokenFormat {
  const char* name;  ///< "github-token", as in [REDACTED:github-token]
  const char* prefix;
  Alphabet body;
  std::size_t shortest;  ///< length of the body
  std::size_t longest;   ///< a longer run of the alphabet is not a token; kOpen: no limit
  /// Whether a letter or digit just before the prefix rules out a token: for short prefixes, which
  /// occur in words and in base64 by chance.
  bool at_border = true;
  /// A further condition on the body; null: none.
  bool (*holds)(std::string_view body) = nullptr;
};

/// The most of a body without length limit that is checked and replaced.
inline constexpr std::size_t kOpen = 512;

/// The longest private key block: RSA of 16,384 bits has some 13 KB.
inline constexpr std::size_t kLongestKeyBlock = 32u << 10;

/// The formats, by prefix. The first row is the private key block (PEM, RFC 7468; OpenSSH, PGP),
/// which has a grammar of its own.
const std::vector<TokenFormat>& token_shapes();

/// Whether a token of some format begins at a text's first byte.
struct ShapeVerdict {
  enum class Kind { no, more, hit };
  Kind kind = Kind::no;
  /// hit: the token's length; no: the bytes from the prefix on in which no other prefix of the same
  /// row can be a hit either; more: unused.
  std::size_t bytes = 0;
};

/// @param text   from the prefix on; kLongestKeyBlock bytes are enough
/// @param ended  the text is complete; else `more` means that it is too short to decide
ShapeVerdict judge_shape(const TokenFormat& shape, std::string_view text, bool ended);

/// How many bytes follows_border() needs.
inline constexpr std::size_t kBorderContext = 16;

/// Whether a token may begin after these bytes: they don't end in a letter or digit, or end in an
/// escape that does (\n, \x0a, \u000a, %3D, a terminal's colour).
bool follows_border(std::string_view before);

/// A pattern for single lines.
struct LineShape {
  std::string name;
  Pattern pattern;
  int group = 0;  ///< the group that is replaced; 0: the whole match
};

/// Patterns that also match test data and programs, so that they are replaced only in text for
/// people: "password=…", "Authorization: Bearer …", JSON web tokens, "scheme://user:password@host".
const std::vector<LineShape>& loose_shapes();

}  // namespace sortie
