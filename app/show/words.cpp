#include "app/show/words.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

namespace sortie {
namespace {

constexpr char kMark = '\x02';
constexpr const char* kAnyWord = "WORD";  ///< the type of arguments that may be empty

bool is_misread(std::string_view word) {
  return word.empty() || word == "{}" || word == "%%" || word == "++" || word.front() == kMark ||
         (word.front() == '[' && word.back() == ']');
}

std::string marked(std::string_view word) { return kMark + std::string(word); }

CLI::callback_t keep_in(std::vector<std::string>& to) {
  return [&to](const CLI::results_t& words) {
    to = words;
    return true;
  };
}

}  // namespace

std::vector<std::string> marked_words(int argc, const char* const* argv) {
  std::vector<std::string> words;
  bool behind = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string_view::npos;
    if (behind || is_misread(word)) {
      words.push_back(marked(word));
    } else if (equals != std::string_view::npos && is_misread(word.substr(equals + 1))) {
      words.emplace_back(word.substr(0, equals));
      words.push_back(marked(word.substr(equals + 1)));
    } else {
      words.emplace_back(word);
    }
    behind = behind || word == "--";
  }
  std::reverse(words.begin(), words.end());
  return words;
}

std::string unmarked(const std::string& word) {
  return !word.empty() && word.front() == kMark ? word.substr(1) : word;
}

void take_words_as_given(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;  // a flag without a value
    const bool may_be_empty = option->get_type_name() == kAnyWord;
    option->transform(CLI::Validator(
        [may_be_empty](std::string& word) {
          word = unmarked(word);
          return word.empty() && !may_be_empty
                     ? std::string("is empty; give it a value or leave it out")
                     : std::string();
        },
        ""));
  }
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    take_words_as_given(*command);
}

CLI::Option& add_words(CLI::App& app, const std::string& name, std::vector<std::string>& to,
                       const std::string& description) {
  CLI::Option* option = app.add_option(name, keep_in(to), description);
  option->type_name(kAnyWord)->type_size(1)->expected(1, -1)->allow_extra_args(true);
  return *option;
}

CLI::Option& add_repeatable(CLI::App& app, const std::string& name, std::vector<std::string>& to,
                            const std::string& description) {
  CLI::Option* option = app.add_option(name, keep_in(to), description);
  option->type_name("TEXT")->type_size(1)->expected(1);
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false);
  return *option;
}

}  // namespace sortie
