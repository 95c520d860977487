#include "app/inputs/task_text.h"

#include <optional>
#include <utility>

#include "app/inputs/standard_input.h"
#include "core/base/error.h"
#include "core/json/json.h"
#include "core/text/text.h"

namespace sortie {
namespace {

std::string read_all(const std::string& missing) {
  std::optional<std::string> text = read_standard_input();
  if (!text || text->empty()) throw InputError(missing);
  return std::move(*text);
}

/// The prompt that means this text: what looks like a placeholder is none.
std::string literal_prompt(const std::string& text) {
  std::string prompt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "{{") == 0) {
      prompt += "\\{{";
      ++i;
    } else {
      prompt += text[i];
    }
  }
  return prompt;
}

/// A JSON string is one of YAML, too, but for DEL, which YAML takes as an escape only.
std::string yaml_string(const std::string& text) {
  std::string string;
  for (const char c : write_json(Json(text))) string += c == '\x7f' ? "\\u007f" : std::string(1, c);
  return string;
}

std::string prompt_from_stdin() {
  std::string text = read_all("--prompt is '-', and stdin has no prompt");
  if (text.ends_with('\n')) text.pop_back();
  return literal_prompt(text);
}

}  // namespace

std::string text_of_task(const RunOptions& options) {
  if (options.prompt) {
    const std::string prompt = *options.prompt == "-" ? prompt_from_stdin() : *options.prompt;
    if (!is_utf8(prompt)) throw InputError("--prompt: not UTF-8");
    // Nobody says whether it is a question.
    return "version: 1\nprompt: " + yaml_string(prompt) + "\nexpect: {changes: any}\n";
  }
  return options.task == "-" ? read_all("TASK is '-', and stdin has no task") : std::string();
}

}  // namespace sortie
