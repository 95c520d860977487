#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/task/task.h"

namespace sortie {

/// A piece of a prompt: text that stays as it is, or the name of a variable.
struct PromptPart {
  enum class Kind {
    literal,
    variable,
    unclosed,  ///< "{{" without "}}" on its line
  };
  Kind kind = Kind::literal;
  std::string text;        ///< the literal text, or the name between the braces
  std::size_t offset = 0;  ///< its first byte in the prompt
  std::size_t length = 0;  ///< its bytes in the prompt, braces included
  bool operator==(const PromptPart&) const = default;
};

/// Splits a prompt at its placeholders. `\{{` is the literal `{{`, and `${{ … }}` stays whole.
std::vector<PromptPart> split_prompt(std::string_view prompt);

/// What is wrong with a placeholder.
struct PlaceholderProblem {
  PromptPart part;
  std::string message;
  std::string nearest;
};

/// The unknown placeholders: neither a variable of the task nor a built-in one.
std::vector<PlaceholderProblem> check_placeholders(std::string_view prompt,
                                                   const std::map<std::string, TaskVariable>& vars);

/// Names that every task has: stdin, date, run_id, git.branch, git.sha (and file:PATH).
const std::vector<std::string>& built_in_variables();

/// The PATH of a "file:PATH" placeholder; "" for other names.
std::string_view file_of_placeholder(std::string_view name) noexcept;

}  // namespace sortie
