#include "core/agent/checks/prose.h"

#include <utility>

#include "core/text/pattern.h"
#include "core/text/text.h"

namespace sortie {
namespace {

struct Plain {
  std::string_view typographic;
  char plain;
};
constexpr Plain kPlain[] = {{"\xE2\x80\x98", '\''},
                            {"\xE2\x80\x99", '\''},
                            {"\xE2\x80\x9C", '"'},
                            {"\xE2\x80\x9D", '"'},
                            {"\xC2\xA0", ' '}};

std::string_view without_margins(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Plain quotes, single blanks, no "**".
std::string plain(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    char c = line[i] == '\t' || line[i] == '\r' ? ' ' : line[i];
    for (const auto& [typographic, ascii] : kPlain)
      if (line.substr(i).starts_with(typographic)) {
        c = ascii;
        i += typographic.size() - 1;
        break;
      }
    if (line.substr(i).starts_with("**")) {
      ++i;
      continue;
    }
    if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
  }
  return out;
}

/// Without "- ", "* ", "3. ", "## ", "[ ] ".
std::string_view without_mark(std::string_view line) {
  line = without_margins(line);
  const std::size_t marks = line.find_first_not_of("#-*+");
  const std::size_t digits = line.find_first_not_of("0123456789");
  if (marks != 0 && marks != std::string_view::npos && line[marks] == ' ')
    line.remove_prefix(marks + 1);
  else if (digits != 0 && digits != std::string_view::npos && digits + 1 < line.size() &&
           (line[digits] == '.' || line[digits] == ')') && line[digits + 1] == ' ')
    line.remove_prefix(digits + 2);
  if (line.starts_with("[ ] ") || line.starts_with("[x] ")) line.remove_prefix(4);
  return without_margins(line);
}

bool ends_sentence(const std::string& line, std::size_t at) {
  const char c = line[at];
  if (c == ';') return true;
  if (c != '.' && c != '!' && c != '?') return false;
  // "rm -rf . now": a dot that stands alone is an argument.
  return at + 1 < line.size() && line[at + 1] == ' ' && at > 0 && line[at - 1] != ' ';
}

}  // namespace

std::vector<std::string> sentences_of(std::string_view message) {
  std::vector<std::string> sentences;
  const auto add = [&](std::string_view text) {
    if (const auto one = without_margins(text); !one.empty()) sentences.emplace_back(one);
  };
  std::string_view fence;
  for (const std::string_view raw : split_lines(message)) {
    const std::string_view begin = without_margins(raw);
    const bool is_fence = begin.starts_with("```") || begin.starts_with("~~~");
    if (is_fence && (fence.empty() || begin.starts_with(fence))) {
      fence = fence.empty() ? begin.substr(0, 3) : std::string_view();
      continue;
    }
    if (!fence.empty() || begin.starts_with('>')) continue;
    const std::string line = plain(without_mark(raw));
    std::size_t from = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (!ends_sentence(line, i)) continue;
      add(std::string_view(line).substr(from, i + 1 - from));
      from = i + 1;
    }
    add(std::string_view(line).substr(from));
  }
  return sentences;
}

namespace {

/// Languages of code blocks that are run as they stand; "" is often one of them.
bool is_run(std::string_view language) {
  return is_one_of(ascii_lower(trimmed(language)),
                   {"", "sh", "bash", "zsh", "shell", "console", "terminal", "shell-session", "sql",
                    "psql", "postgresql", "mysql", "sqlite"});
}

const Pattern& proposal() {
  static const Pattern pattern = Pattern::expression(
      R"(\b(?:run|ran|running|execut\w+|issue|use|try|call|type|enter|paste|apply)\b[^`]{0,60}$)",
      LetterCase::ignored);
  return pattern;
}

const Pattern& warning() {
  static const Pattern pattern = Pattern::expression(
      R"(n't\b|\b(?:not|never|avoid\w*|without|instead of|rather than|cannot|no longer|den(?:y|ies|ied))\b)",
      LetterCase::ignored);
  return pattern;
}

const Pattern& bare_command() {
  static const Pattern pattern = Pattern::expression(
      R"(^\$ \S+|^(?:sudo )?(?:drop (?:table|database|schema)|delete from|truncate table|rm -)\S* ?\S+)",
      LetterCase::ignored);
  return pattern;
}

/// Adds the code in a sentence, where it is proposed.
void add_spans(const std::string& line, std::vector<std::string>& to) {
  std::size_t from = 0;
  for (;;) {
    const std::size_t begin = line.find('`', from);
    const std::size_t end = begin == std::string::npos ? begin : line.find('`', begin + 1);
    if (end == std::string::npos) return;
    const std::string before = line.substr(from, begin - from);
    if (proposal().find(before) && !warning().find(line.substr(0, begin)))
      to.push_back(line.substr(begin + 1, end - begin - 1));
    from = end + 1;
  }
}

}  // namespace

std::vector<std::string> proposed_commands(std::string_view message) {
  std::vector<std::string> commands;
  bool in_block = false;
  bool runs = false;
  for (const std::string_view raw : split_lines(message)) {
    const std::string_view line = without_margins(raw);
    if (line.starts_with("```") || line.starts_with("~~~")) {
      in_block = !in_block;
      runs = is_run(line.substr(3));
    } else if (in_block) {
      if (runs) commands.emplace_back(line);
    } else if (!line.starts_with('>')) {
      const std::string text = plain(without_mark(raw));
      if (bare_command().find(text))
        commands.push_back(text);
      else if (text.find('`') != std::string::npos)
        add_spans(text, commands);
    }
  }
  return commands;
}

}  // namespace sortie
