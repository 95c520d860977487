#include "policies/shell/script_folders.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "core/text/text.h"
#include "policies/shell/read_only_table.h"
#include "policies/shell/wrappers.h"

namespace sortie {
namespace {

/// Built-ins of bash 5.2 that change variables, options, names or folders of the shell, or that run
/// or evaluate an argument: `unset 'a[$(x)]'` runs x.
constexpr std::string_view kChanging[] = {
    "alias",     "bg",       "bind",   "builtin",  "caller", "compgen", "complete",
    "compopt",   "declare",  "dirs",   "disown",   "enable", "eval",    "exec",
    "export",    "fc",       "fg",     "getopts",  "hash",   "history", "jobs",
    "let",       "local",    "logout", "mapfile",  "popd",   "pushd",   "read",
    "readarray", "readonly", "set",    "shift",    "shopt",  "source",  "suspend",
    "times",     "trap",     "type",   "typeset",  "ulimit", "umask",   "unalias",
    "unset",     "wait",     "break",  "continue", "return", "help",    "."};

bool has_word(std::span<const ScriptWord> words, std::string_view text) {
  return std::any_of(words.begin(), words.end(),
                     [&](const ScriptWord& word) { return word.text == text; });
}

/// The letters of a format's conversions: "sd" of "%s: %5.1d%%".
std::string conversions_of(std::string_view format) {
  constexpr std::string_view kBetween = "#-+ 0123456789.$'hjlLtz";
  std::string letters;
  bool inside = false;
  for (const char c : format) {
    if (!inside) {
      inside = c == '%';
    } else if (kBetween.find(c) == std::string_view::npos) {
      letters += c;
      inside = c == '*';  // a width of its own
    }
  }
  return letters;
}

/// The built-in printf sets variables with -v and %n, and zsh's evaluates an argument that is not a
/// number as arithmetic: `printf %n PATH`, `printf %d 'a[$(x)]'`.
std::string why_printf_changes(std::span<const ScriptWord> operands) {
  if (!operands.empty() && operands[0].text == "--") {
    operands = operands.subspan(1);
  } else if (!operands.empty() && operands[0].text.starts_with('-')) {
    return "printf with an option sets a variable of the shell";
  }
  if (operands.empty()) return "";
  if (operands[0].glob) return why_no_glob("printf", operands[0].text);
  const std::string conversions = conversions_of(operands[0].text);
  if (conversions.find('n') != std::string::npos) return "printf %n sets a variable of the shell";
  if (conversions.find_first_not_of("sbcqQ%") == std::string::npos) return "";
  const auto is_evaluated = [](const ScriptWord& word) {
    return word.glob || word.text.find('[') != std::string::npos;
  };
  if (std::none_of(operands.begin() + 1, operands.end(), is_evaluated)) return "";
  return "printf evaluates the contents of brackets as a number in some shells: use %s";
}

/// A shell's first operand is a script's file, or with -c the script itself: the expansion of a
/// glob there is unknown.
std::string why_shell_is_not_seen(std::span<const ScriptWord> words) {
  std::vector<std::string> before;
  for (const ScriptWord& word : words) {
    const bool may_be_option = !begins_literally(word.text) || word.text.front() == '+';
    if (word.glob && may_be_option && read_shell_call(before).file.empty())
      return "this glob may expand to an option of " + before[0] +
             ", and -c runs the next word: write ./ before it";
    before.push_back(word.text);
  }
  return "";
}

}  // namespace

std::string folder_behind(const std::string& folder, const std::string& operand) {
  std::string path = (std::filesystem::path(folder) / operand).lexically_normal().string();
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

ScriptFolders::ScriptFolders(std::string start) { states_.emplace(std::move(start), true); }

std::vector<std::string> ScriptFolders::run(std::span<const SimpleCommand> pipeline) {
  const SimpleCommand& first = pipeline.front();
  std::set<std::string> folders;
  std::set<State> after;
  for (const State& state : states_) {
    const bool skipped = (first.link == ScriptLink::and_then && !state.second) ||
                         (first.link == ScriptLink::or_else && state.second);
    if (skipped) {
      after.insert(state);
    } else {
      folders.insert(state.first);
    }
  }
  // A command that can't be reached is checked all the same.
  if (folders.empty()) {
    for (const State& state : states_) folders.insert(state.first);
  }
  // In a pipeline each command runs in a subshell with a working folder of its own.
  const bool changes =
      pipeline.size() == 1 && first.words[0].text == "cd" && first.words.size() == 2;
  for (const std::string& folder : folders) {
    after.emplace(changes ? folder_behind(folder, first.words[1].text) : folder, true);
    after.emplace(folder, false);
  }
  states_ = std::move(after);
  return {folders.begin(), folders.end()};
}

std::string why_changes_shell(std::span<const ScriptWord> words) {
  const std::string& name = words[0].text;
  if (is_one_of(name, kChanging)) {
    return name + " changes the shell for the commands after it, or evaluates its arguments";
  }
  const auto operands = words.subspan(1);
  if (name == "printf") return why_printf_changes(operands);
  if (is_shell(name)) return why_shell_is_not_seen(words);
  if (name == "test" || name == "[") {
    if (has_word(operands, "-v") || has_word(operands, "-R"))
      return name + " -v evaluates the contents of brackets";
    // It may expand to -v.
    const auto glob = std::find_if(operands.begin(), operands.end(),
                                   [](const ScriptWord& word) { return word.glob; });
    if (glob != operands.end()) return why_no_glob(name, glob->text);
  }
  const bool asks = words.size() == 3 && (words[1].text == "-v" || words[1].text == "-V");
  if (name == "command" && !(asks && !words[2].glob)) {
    return "only `command -v NAME` leaves the shell unchanged";
  }
  return "";
}

bool renames_commands(std::string_view name) { return name == "alias" || name == "hash"; }

}  // namespace sortie
