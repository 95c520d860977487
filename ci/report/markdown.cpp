#include "ci/report/markdown.h"

#include <algorithm>

#include "core/text/output_buffer.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kBreak = "\xe2\x80\x8b";  ///< U+200B: it ends what could be a link

std::size_t longest_run(std::string_view text, char sign) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == sign ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

/// What means something wherever it stands; the rest stays as it is, for whoever reads the file itself.
constexpr std::string_view kMarkup = "\\`*_[]<>&|~#!@$";

/// Whether the character begins a list, a rule or an underlined heading at the start of a text.
bool begins_block(std::string_view line, std::size_t at) {
  if (at == 0) return std::string_view("-+=").find(line[0]) != std::string_view::npos;
  const std::size_t digits = line.find_first_not_of("0123456789");
  return at == digits && (line[at] == '.' || line[at] == ')');
}

}  // namespace

std::string code_span(std::string_view text) {
  const std::string line = one_line(text, 4096);
  if (trimmed(line).empty()) return "` `";
  const std::string fence(longest_run(line, '`') + 1, '`');
  // A blank at each end is taken away again where both are there (CommonMark 6.1).
  return fence + " " + line + " " + fence;
}

std::string plain_words(std::string_view text) {
  const std::string line = one_line(trimmed(text), 4096);
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const std::string_view rest = std::string_view(line).substr(i + 1);
    if (kMarkup.find(c) != std::string_view::npos || begins_block(line, i)) out += '\\';
    out += c;
    const bool url = c == ':' && rest.starts_with("//");
    const bool host = (c == 'w' || c == 'W') && rest.starts_with('.');
    const bool reference = c == '@' || c == '#' || (c == '!' && !rest.empty());
    if (url || host || reference) out += kBreak;
  }
  return out;
}

std::string code_block(std::string_view text, std::string_view language) {
  std::string lines(text);
  if (!lines.ends_with('\n')) lines += '\n';
  const std::string fence(std::max<std::size_t>(2, longest_run(lines, '`')) + 1, '`');
  return fence + std::string(language) + "\n" + lines + fence + "\n";
}

std::string code_block(const Excerpt& excerpt) {
  if (excerpt.left_out == 0) return code_block(excerpt.head + excerpt.tail);
  std::string text = excerpt.head;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return code_block(text + "… " + size_in_words(excerpt.left_out) + " left out …\n" + excerpt.tail);
}

}  // namespace sortie
