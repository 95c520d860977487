#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace sortie {

/// What a text may stand for from some offset on, where it is not only the byte that is there.
struct Reading {
  std::array<char, 4> bytes{};  ///< UTF-8 of a character that is coded by its number
  std::size_t size = 0;
  std::size_t end = 0;      ///< offset behind the coded form
  bool soft_break = false;  ///< a line break that the coding adds; of size 0

  std::string_view text() const { return {bytes.data(), size}; }
};

/// The readings at an offset; not those of the byte as it stands.
struct Readings {
  static constexpr std::size_t kMost = 3;  ///< so often may a coding be coded again

  std::array<Reading, kMost> list{};
  std::size_t count = 0;
  /// The text ends where more would decide: to be asked again with more.
  bool cut = false;
};

/// Whether readings() can have anything to say where this byte stands.
constexpr bool begins_coded(char c) { return c == '\\' || c == '%' || c == '&' || c == '='; }

/// Reads escapes of C, JSON, JavaScript, Python and the shell (\" \n \x41 \u0041 \u{41} \101),
/// percent-coding (RFC 3986 §2.1, %u0041 too), HTML's references (&#65; &#x41; &quot;) and
/// quoted-printable (RFC 2045 §6.7, with its soft line breaks), coded up to three times over.
class TextReader {
 public:
  /// @param ended  nothing comes behind the text
  TextReader(std::string_view text, bool ended) : text_(text), ended_(ended) {}
  /// @param at  where begins_coded() holds
  Readings readings(std::size_t at);

  /// What was read at an offset already, for what is coded again.
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
