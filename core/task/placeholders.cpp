#include "core/task/placeholders.h"

#include <algorithm>
#include <utility>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kFilePrefix = "file:";

/// The placeholder that opens at `at`.
PromptPart placeholder_at(std::string_view prompt, std::size_t at) {
  const std::size_t inside = at + 2;
  const std::size_t end = prompt.find("}}", inside);
  const std::size_t line_end = prompt.find('\n', inside);
  if (end == std::string_view::npos || line_end < end)
    return {.kind = PromptPart::Kind::unclosed, .text = "{{", .offset = at, .length = 2};
  return {.kind = PromptPart::Kind::variable,
          .text = std::string(without_blanks(prompt.substr(inside, end - inside))),
          .offset = at,
          .length = end + 2 - at};
}

}  // namespace

std::vector<PromptPart> split_prompt(std::string_view prompt) {
  std::vector<PromptPart> parts;
  PromptPart literal;
  const auto end_literal = [&](std::size_t next) {
    if (!literal.text.empty()) parts.push_back(std::exchange(literal, {}));
    literal = {.offset = next};
  };
  const auto keep = [&](std::size_t begin, std::size_t end) {
    literal.text += prompt.substr(begin, end - begin);
    literal.length = end - literal.offset;
  };

  std::size_t at = 0;
  while (at < prompt.size()) {
    const std::size_t open = std::min(prompt.find("{{", at), prompt.size());
    const char before = open > at ? prompt[open - 1] : '\0';
    if (open == prompt.size()) {
      keep(at, open);
      at = open;
    } else if (before == '\\') {
      keep(at, open - 1);
      keep(open, open + 2);
      at = open + 2;
    } else if (before == '$') {
      const std::size_t close = prompt.find("}}", open);
      const std::size_t end = close == std::string_view::npos ? open + 2 : close + 2;
      keep(at, end);
      at = end;
    } else {
      keep(at, open);
      PromptPart part = placeholder_at(prompt, open);
      at = open + part.length;
      end_literal(at);
      parts.push_back(std::move(part));
    }
  }
  end_literal(at);
  return parts;
}

std::vector<PlaceholderProblem> check_placeholders(
    std::string_view prompt, const std::map<std::string, TaskVariable>& vars) {
  std::vector<std::string> names = built_in_variables();
  for (const auto& [name, variable] : vars) names.push_back(name);

  std::vector<PlaceholderProblem> problems;
  for (auto& part : split_prompt(prompt)) {
    if (part.kind == PromptPart::Kind::literal) continue;
    if (part.kind == PromptPart::Kind::unclosed) {
      problems.push_back({std::move(part), "'{{' without '}}'; '\\{{' is the literal '{{'", ""});
    } else if (file_of_placeholder(part.text).empty() &&
               std::find(names.begin(), names.end(), part.text) == names.end()) {
      const std::string shown = one_line(part.text, 60);
      std::string nearest = nearest_name(part.text, names);
      std::string message = "unknown variable '" + shown + "'";
      if (nearest.empty())
        message += "; declare it in 'vars', or write '\\{{' for the literal '{{'";
      problems.push_back({std::move(part), std::move(message), std::move(nearest)});
    }
  }
  return problems;
}

const std::vector<std::string>& built_in_variables() {
  static const std::vector<std::string> names = {"stdin", "date", "run_id", "git.branch",
                                                 "git.sha"};
  return names;
}

std::string_view file_of_placeholder(std::string_view name) noexcept {
  if (!name.starts_with(kFilePrefix)) return {};
  return without_blanks(name.substr(kFilePrefix.size()));
}

}  // namespace sortie
