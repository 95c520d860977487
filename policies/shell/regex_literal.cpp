#include "policies/shell/regex_literal.h"

namespace sortie {
namespace {

constexpr auto kUncertain = std::string_view::npos;

/// The index of the bracket expression's last byte.
/// @param at  of its '['
std::size_t end_of_bracket(std::string_view text, std::size_t at, char delimiter) {
  ++at;
  if (at < text.size() && text[at] == '^') ++at;
  if (at < text.size() && text[at] == ']') ++at;  // not its end
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == ']') return at;
    if (c == delimiter || c == '\n') return kUncertain;
    if (c == '\\') {
      ++at;
      if (at == text.size() || text[at] == ']' || text[at] == '[' || text[at] == '\n')
        return kUncertain;
    } else if (c == '[') {
      // [:alpha:]
      const auto end = text.find(":]", at);
      if (end == kUncertain || text.substr(at, 2) != "[:") return kUncertain;
      for (const char letter : text.substr(at + 2, end - at - 2))
        if (letter < 'a' || letter > 'z') return kUncertain;
      at = end + 1;
    }
  }
  return kUncertain;
}

std::size_t find_end(std::string_view text, std::size_t at, char delimiter, bool brackets) {
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == delimiter) return at;
    if (c == '\n') return kUncertain;
    if (c == '\\' && (++at == text.size() || text[at] == '\n')) return kUncertain;
    if (c == '[' && brackets) {
      at = end_of_bracket(text, at, delimiter);
      if (at == kUncertain) return kUncertain;
    }
  }
  return kUncertain;
}

}  // namespace

std::size_t end_of_regex(std::string_view text, std::size_t at, char delimiter) {
  return find_end(text, at, delimiter, true);
}

std::size_t end_of_text(std::string_view text, std::size_t at, char delimiter) {
  return find_end(text, at, delimiter, false);
}

}  // namespace sortie
