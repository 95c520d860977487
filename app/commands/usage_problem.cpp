#include "app/commands/usage_problem.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "app/commands/habits.h"
#include "app/show/words.h"
#include "core/text/or_list.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr const char* kInsteadOfPrompt =
    "; write instead: 'sortie run -p PROMPT', or a task file with 'version: 1' and 'prompt: …', "
    "and 'sortie run FILE'";

constexpr const char* kPromptInQuotes =
    "; a prompt of several words stands in quotes: 'sortie run -p \"PROMPT\"'";

/// The flags of a command, with their dashes.
std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
    for (const auto& name : option->get_snames()) flags.push_back("-" + name);
  }
  return flags;
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

/// "exec" of `sortie exec resume`; "" for the program alone.
std::string first_command(const CLI::App& app) {
  const CLI::App* first = &app;
  if (first->get_parent() == nullptr) return "";
  while (first->get_parent()->get_parent() != nullptr) first = first->get_parent();
  return first->get_name();
}

/// Whether words that nobody expected look like a prompt without quotes: `sortie run fix the tests`,
/// `sortie run -p fix the tests`, `sortie fix the tests`.
bool looks_like_prompt(const CLI::App& app, const std::vector<std::string>& words) {
  const std::string command = first_command(app);
  if (command.empty()) return words.size() > 2;
  if (command != "run") return false;
  const CLI::Option* const task = app.get_option_no_throw("TASK");
  if (task == nullptr || task->results().empty()) return true;
  const std::string& name = task->results().front();
  return !name.ends_with(".yaml") && !name.ends_with(".yml") && name != "-";
}

/// The error for an unknown word, with the nearest known one.
std::string describe_unknown(const CLI::App& app, const std::string& word) {
  const bool flag = word.starts_with('-');
  const std::string bare = word.substr(0, word.find('='));
  const std::string command = first_command(app);
  const std::string instead = flag || command.empty() ? instead_of_habit(bare, command) : "";
  if (flag && !instead.empty()) return "unknown flag '" + bare + "'; write instead: " + instead;
  if (!instead.empty()) return "unknown command '" + bare + "'; write instead: " + instead;
  std::string text = flag ? "unknown flag '" + one_line(bare) + "'"
                     : app.get_subcommands([](const CLI::App*) { return true; }).empty()
                         ? "one argument too many: '" + one_line(word) + "'"
                         : "unknown command '" + one_line(word) + "'";
  const std::string nearest = nearest_name(bare, flag ? flags_of(app) : commands_of(app));
  if (!nearest.empty()) text += "; did you mean '" + nearest + "'?";
  if (!flag && word.find(' ') != std::string::npos) text += kInsteadOfPrompt;
  return text;
}

/// "--format: expected html or summary, got 'pdf'", of "--format: pdf not in {html,summary}" and of
/// "Could not convert: --max-cost = abc"; "" for another problem.
std::string wrong_value(const std::string& what) {
  constexpr std::string_view kNumber = "Could not convert: ";
  constexpr std::string_view kSet = " not in {";
  if (what.starts_with(kNumber)) {
    const std::size_t equals = what.find(" = ");
    if (equals == std::string::npos) return "";
    return what.substr(kNumber.size(), equals - kNumber.size()) + ": expected a number, got '" +
           one_line(what.substr(equals + 3)) + "'";
  }
  const std::size_t set = what.rfind(kSet);
  const std::size_t colon = what.find(": ");
  if (set == std::string::npos || colon == std::string::npos || colon > set) return "";
  const std::string value = what.substr(colon + 2, set - colon - 2);
  std::string list = what.substr(set + kSet.size());
  list.erase(std::min(list.find('}'), list.size()));
  std::vector<std::string> known;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    known.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  std::string text =
      what.substr(0, colon) + ": expected " + or_list(known) + ", got '" + one_line(value) + "'";
  const std::string nearest = nearest_name(value, known);
  return nearest.empty() ? text : text + "; did you mean '" + nearest + "'?";
}

/// "RUN is required: a run's output folder, or its transcript"; "" for another problem.
std::string what_is_missing(const CLI::App& app, const std::string& what) {
  if (what == "A subcommand is required") {
    const std::string own =
        app.get_parent() == nullptr
            ? "; the first ones: 'sortie run TASK.yaml', 'sortie run -p PROMPT', 'sortie init'"
            : "";
    return "a command is missing: expected " + or_list(commands_of(app)) + own;
  }
  constexpr std::string_view kRequired = " is required";
  if (!what.ends_with(kRequired)) return "";
  const std::string name = what.substr(0, what.size() - kRequired.size());
  for (const CLI::Option* option : app.get_options())
    if (option->get_name() == name && !option->get_description().empty())
      return what + ": " + option->get_description();
  return "";
}

}  // namespace

const CLI::App& chosen_command(const CLI::App& root) {
  const CLI::App* app = &root;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *app;
}

std::string words_of_command(const CLI::App& root) {
  std::string words;
  for (const CLI::App* app = &root; !app->get_subcommands().empty();) {
    app = app->get_subcommands().front();
    words += app->get_name() + " ";
  }
  return words;
}

std::string usage_problem(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& app = chosen_command(root);
  const auto extras = root.remaining(true);
  // A mistyped flag makes a word too many of its value: the flag is the cause.
  for (const auto& word : extras)
    if (word != "--" && word.starts_with('-')) return describe_unknown(app, word);
  std::vector<std::string> words;
  for (const auto& word : extras)
    if (word != "--") words.push_back(unmarked(word));
  if (!words.empty()) {
    const std::string text = describe_unknown(app, words[0]);
    const bool has_advice = text.find(';') != std::string::npos;
    return !has_advice && looks_like_prompt(app, words) ? text + kPromptInQuotes : text;
  }
  // "--out: At Most 1 required but received 2" in the library's words.
  const std::string what = error.what();
  if (const std::size_t at = what.find(": At Most 1 required"); at != std::string::npos)
    return one_line(what.substr(0, at)) + " is given more than once";
  if (const std::string text = wrong_value(what); !text.empty()) return text;
  if (const std::string text = what_is_missing(app, what); !text.empty()) return text;
  return one_line(what, 400);
}

}  // namespace sortie
