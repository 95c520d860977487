#include "app/commands/completed_words.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

#include "app/commands/schema_names.h"
#include "core/base/isolation.h"
#include "core/catalog/providers.h"
#include "core/task/task.h"
#include "core/text/text.h"
#include "policies/file/presets.h"
#include "policies/rules/policy.h"

namespace sortie {
namespace {

template <SpelledEnum Enum>
std::vector<std::string> words_of() {
  std::vector<std::string> words;
  for (const auto& row : kSpelling<Enum>) words.emplace_back(row.name);
  return words;
}

std::vector<std::string> provider_words() {
  std::vector<std::string> words;
  for (const ProviderInfo& provider : providers()) words.emplace_back(provider.name);
  words.emplace_back("replay");
  return words;
}

std::vector<std::string> no_words() { return {}; }

/// What the parser does not say of a value itself, by the name of the flag or argument, which means
/// the same wherever it is. A value that is not listed is a file.
struct ValueRow {
  std::string_view name;
  std::vector<std::string> (*words)();
  FileKind files;
};

constexpr auto kValues = std::to_array<ValueRow>({
    {"--policy", preset_names, FileKind::any},
    {"POLICY", preset_names, FileKind::any},
    {"--approval", words_of<Approval>, FileKind::none},
    {"--isolation", words_of<Isolation>, FileKind::none},
    {"--provider", provider_words, FileKind::none},
    {"NAME", schema_names, FileKind::none},
    {"--cd", no_words, FileKind::folders},
    {"--workspace", no_words, FileKind::folders},
    {"--out", no_words, FileKind::folders},
    {"--demo", no_words, FileKind::folders},
    {"RUN_DIR", no_words, FileKind::folders},
    {"PATCH", no_words, FileKind::none},
    {"PROMPT", no_words, FileKind::none},
    {"--prompt", no_words, FileKind::none},
    {"--var", no_words, FileKind::none},
    {"--model", no_words, FileKind::none},
    {"--base-url", no_words, FileKind::none},
    {"--api-key-fd", no_words, FileKind::none},
    {"--max-turns", no_words, FileKind::none},
    {"--max-tokens", no_words, FileKind::none},
    {"--max-cost", no_words, FileKind::none},
    {"--timeout", no_words, FileKind::none},
    {"--best-of", no_words, FileKind::none},
    {"--onto", no_words, FileKind::none},
});

/// The words of the parser's own check, which it describes as "TEXT:{a,b}".
std::vector<std::string> checked_words(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find(":{");
  const std::size_t end = type.find('}', begin);
  std::vector<std::string> words;
  if (begin == std::string::npos || end == std::string::npos) return words;
  const std::string list = type.substr(begin + 2, end - begin - 2);
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    words.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return words;
}

CompletedPlace place_of(const CLI::Option& option, const std::vector<std::string>& names) {
  if (auto words = checked_words(option); !words.empty()) return {std::move(words), FileKind::none};
  for (const ValueRow& row : kValues)
    if (std::find(names.begin(), names.end(), row.name) != names.end())
      return {row.words(), row.files};
  return {{}, FileKind::any};
}

/// The long names first.
std::vector<std::string> flag_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

void add_option(const CLI::Option& option, CompletedCommand& command) {
  // No group: not shown in the help either. COMMAND stands behind "--".
  if (option.get_group().empty() || option.get_name(true) == "COMMAND") return;
  if (option.get_positional()) {
    command.arguments.push_back(place_of(option, {option.get_name(true)}));
    command.last_repeats = option.get_items_expected_max() > 1;
    return;
  }
  CompletedFlag flag{.names = flag_names(option),
                     .description = option.get_description(),
                     .takes_value = option.get_items_expected_max() > 0};
  if (flag.takes_value) flag.value = place_of(option, flag.names);
  command.flags.push_back(std::move(flag));
}

void add_commands(const CLI::App& app, const std::string& words,
                  std::vector<CompletedCommand>& all) {
  CompletedCommand command{
      .words = words, .description = app.get_description(), .short_names = app.get_aliases()};
  for (const auto* option : app.get_options()) add_option(*option, command);
  const auto below = app.get_subcommands([](const CLI::App*) { return true; });
  for (const auto* one : below) command.commands.push_back(one->get_name());
  all.push_back(std::move(command));
  for (const auto* one : below)
    add_commands(*one, (words.empty() ? "" : words + " ") + one->get_name(), all);
}

}  // namespace

std::vector<CompletedCommand> completed_commands(const CLI::App& root) {
  std::vector<CompletedCommand> all;
  add_commands(root, "", all);
  return all;
}

}  // namespace sortie
