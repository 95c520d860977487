#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sortie {

/// The beginning and the end of a text, for people.
///
/// Both are UTF-8 without control characters (but newline and tab); what hides or turns text
/// (bidirectional controls, invisible characters) stands as "[U+202E]". They are not escaped for any
/// format.
struct Excerpt {
  std::string head;
  std::string tail{};          ///< "" if `head` is all of it
  std::uint64_t left_out = 0;  ///< bytes between the two
  bool empty() const noexcept { return head.empty() && tail.empty(); }
};

/// Where an excerpt is cut.
struct ExcerptSize {
  std::size_t head = 2048;  ///< bytes
  std::size_t tail = 4096;
};

/// @param between  bytes that the text lacks between its halves: it is a head and a tail already
Excerpt excerpt_of(std::string_view text, const ExcerptSize& size, std::uint64_t between = 0);

/// A text as an Excerpt has it.
std::string visible_text(std::string_view text);
/// The same on one line, cut with "…" past max_bytes.
std::string visible_line(std::string_view text, std::size_t max_bytes = 400);

}  // namespace sortie
