#include "core/text/words.h"

#include "core/text/text.h"

namespace sortie {
namespace {

/// Of what keys, tokens and their codings are made.
bool is_in_word(char c) noexcept {
  constexpr std::string_view kMarks = "-_.~+/=%:";
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         kMarks.find(c) != std::string_view::npos;
}

}  // namespace

std::string one_line_of_words(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return one_line(text, max_bytes);
  std::size_t end = utf8_prefix(text, max_bytes).size();
  if (is_in_word(text[end]))
    while (end > 0 && is_in_word(text[end - 1])) --end;
  return one_line(text.substr(0, end), end) + "…";
}

std::string in_quotes(std::string_view text, std::size_t max_bytes) {
  return "'" + one_line(text, max_bytes) + "'";
}

}  // namespace sortie
