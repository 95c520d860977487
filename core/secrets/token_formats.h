#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/pattern.h"

namespace sortie {

/// What a token's body is made of.
enum class Alphabet { digits_upper, hex_lower, hex, alphanumeric, word, base64url, base64url_dots };

/// A token that its issuer gives a prefix, so that scanners find it: one row of the table.
struct TokenFormat {
  const char* name;    ///< "github-token", as in [REDACTED:github-token]
  const char* prefix;  ///< where a search begins
  Alphabet body;
  std::size_t shortest;  ///< of the body
  std::size_t longest;   ///< a longer run of the alphabet is none; kOpen: any length is one
  /// Whether a letter or digit just before the prefix means that it is none: for short prefixes,
  /// which stand in words and in base64 by chance.
  bool at_border = true;
  /// What the body has to be beyond its alphabet; null is nothing.
  bool (*holds)(std::string_view body) = nullptr;
};

/// How much of a body of any length is looked at and replaced.
inline constexpr std::size_t kOpen = 512;

/// The longest private key block: RSA of 16,384 bits has some 13 KB.
inline constexpr std::size_t kLongestKeyBlock = 32u << 10;

/// The shapes, by prefix. The first row is the private key block (PEM, RFC 7468; OpenSSH, PGP),
/// which has a grammar of its own.
const std::vector<TokenFormat>& token_shapes();

/// Whether the shape that begins at the text's first byte is there.
struct ShapeVerdict {
  enum class Kind { no, more, hit };
  Kind kind = Kind::no;
  /// hit: the whole of it; no: bytes from the prefix on in which no other prefix of the same row
  /// can be a hit either; more: unused.
  std::size_t bytes = 0;
};

/// @param text   from the prefix on; its first bytes are enough to judge it (kLongestKeyBlock)
/// @param ended  nothing follows; else `more` says that the text is too short to judge
ShapeVerdict judge_shape(const TokenFormat& shape, std::string_view text, bool ended);

/// How far back follows_border() looks.
inline constexpr std::size_t kBorderContext = 16;

/// Whether a token may begin behind these bytes: they end in no letter or digit, or in an escape
/// that ends in one (\n, \x0a, \u000a, %3D, a terminal's colour).
bool follows_border(std::string_view before);

/// An expression that is looked for in single lines.
struct LineShape {
  std::string name;
  Pattern pattern;
  int group = 0;  ///< what is replaced of a match: 0 is the whole of it
};

/// Shapes that test data and programs have too, so that they are replaced only in what people read:
/// "password=…", "Authorization: Bearer …", JSON web tokens, "scheme://user:password@host".
const std::vector<LineShape>& loose_shapes();

}  // namespace sortie
