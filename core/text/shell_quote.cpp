#include "core/text/shell_quote.h"

#include <algorithm>

#include "core/text/text.h"

namespace sortie {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
}

}  // namespace

std::string shell_quoted(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'')
      text += "'\\''";
    else
      text += c;
  }
  return text + "'";
}

std::string shell_line(const std::vector<std::string>& argv) {
  return joined(argv, " ", [](const std::string& word) { return shell_quoted(word); });
}

}  // namespace sortie
