#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "ci/report/excerpt.h"

namespace sortie {

/// Writes HTML to a stream. Markup comes from literals of the source alone; all else is escaped here
/// and nowhere else.
class Html {
 public:
  explicit Html(std::ostream& out) : out_(out) {}

  /// Markup, as it is.
  template <std::size_t N>
  Html& operator<<(const char (&markup)[N]) {
    out_.write(markup, N - 1);
    return *this;
  }
  /// A text or a part of an attribute's quoted value: valid UTF-8 in which nothing is markup. Control
  /// characters, what hides or turns text, and marks on a character beyond the 8th stand as
  /// "[U+202E]".
  Html& operator<<(std::string_view text);
  Html& operator<<(const std::string& text) { return *this << std::string_view(text); }
  Html& operator<<(std::int64_t number);  ///< "12,345"; "unknown" below 0
  Html& operator<<(int number) { return *this << static_cast<std::int64_t>(number); }
  Html& operator<<(std::size_t number) { return *this << static_cast<std::int64_t>(number); }
  /// "312 ms", "4.1 s", "2 min 5 s", "1 h 3 min"; "unknown" below 0
  Html& operator<<(std::chrono::milliseconds time);
  /// A mutable array is no literal.
  template <std::size_t N>
  Html& operator<<(char (&text)[N]) = delete;

  /// The head and the tail, with what is left out between them.
  Html& operator<<(const Excerpt& excerpt);

  /// A style or a script of our own, which is text of the program, or a part made by another Html.
  void own(std::string_view text) { out_ << text; }

 private:
  std::ostream& out_;
};

/// "$0.42", "$0.0003", "unknown"
std::string dollars(const std::optional<double>& usd);

}  // namespace sortie
