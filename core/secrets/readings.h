#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace sortie {

/// The decoded character of an encoded form at an offset of a text.
struct Reading {
  std::array<char, 4> bytes{};  ///< UTF-8 of the character
  std::size_t size = 0;
  std::size_t end = 0;      ///< offset after the encoded form
  bool soft_break = false;  ///< a line break that the encoding adds; size 0

  std::string_view text() const { return {bytes.data(), size}; }
};

/// The readings at an offset, without the plain byte.
struct Readings {
  static constexpr std::size_t kMost = 3;  ///< levels of nested encodings

  std::array<Reading, kMost> list{};
  std::size_t count = 0;
  /// The text ends too early to decide: call again with more.
  bool cut = false;
};

/// Whether an encoded form can begin with this byte.
constexpr bool begins_coded(char c) { return c == '\\' || c == '%' || c == '&' || c == '='; }

/// Reads escapes of C, JSON, JavaScript, Python and the shell (\" \n \x41 \u0041 \u{41} \101),
/// percent-coding (RFC 3986 §2.1, %u0041 too), HTML's references (&#65; &#x41; &quot;) and
/// quoted-printable (RFC 2045 §6.7, with its soft line breaks), nested up to three times.
class TextReader {
 public:
  /// @param ended  the text is the stream's end
  TextReader(std::string_view text, bool ended) : text_(text), ended_(ended) {}
  /// @param at  an offset where begins_coded() is true
  Readings readings(std::size_t at);

  /// An earlier result at an offset, for nested encodings.
  struct Known {
    std::size_t at = std::string_view::npos;
    Reading reading{};
  };

 private:
  std::string_view text_;
  bool ended_;
  std::vector<Known> known_{};
};

}  // namespace sortie
