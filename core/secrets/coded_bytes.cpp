#include "core/secrets/coded_bytes.h"

namespace sortie {
namespace {

/// The longest text of a dump between a line's last byte and the next line's offset.
constexpr std::size_t kMostDumpText = 72;
constexpr std::size_t kMostDumpOffset = 16;
constexpr std::size_t kMostDumpBlanks = 4;

}  // namespace

std::size_t dump_line_needs(std::string_view text) {
  const std::size_t newline = text.substr(0, kMostDumpText).find('\n');
  return newline == std::string_view::npos ? kMostDumpText
                                           : newline + kMostDumpOffset + kMostDumpBlanks + 4;
}

std::size_t next_dump_line(std::string_view text, std::size_t at) {
  std::size_t i = at;
  const std::size_t newline = text.substr(i, kMostDumpText).find('\n');
  if (newline == std::string_view::npos) return 0;
  i += newline + 1;
  const std::size_t offset = i;
  while (i < text.size() && i - offset <= kMostDumpOffset && is_hex_digit(text[i])) ++i;
  if (i - offset < 4 || i - offset > kMostDumpOffset) return 0;
  if (i < text.size() && text[i] == ':') ++i;
  const std::size_t blanks = i;
  while (i < text.size() && i - blanks < kMostDumpBlanks && kind_of(text[i]) == blank_byte) ++i;
  return i > blanks && i < text.size() ? i : 0;
}

}  // namespace sortie
