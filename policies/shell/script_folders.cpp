#include "policies/shell/script_folders.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/text.h"
#include "policies/shell/harmless_variables.h"
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

/// Whether the word is a number that only the running script knows.
bool is_number(const ScriptWord& word) { return word.text == std::string(1, kNumberMark); }

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
    return (word.glob && !is_number(word)) || word.text.find('[') != std::string::npos;
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

/// `command -v NAME` tells what it is, and `command NAME …` runs it.
std::string why_command_changes(std::span<const ScriptWord> words) {
  const bool asks = words.size() == 3 && (words[1].text == "-v" || words[1].text == "-V");
  if (asks && !words[2].glob) return "";
  const bool runs = words.size() > 1 && begins_literally(words[1].text) && !words[1].glob &&
                    words[1].text != "cd" && words[1].text != "command";
  if (!runs) return "only `command -v NAME` leaves the shell unchanged";
  return is_shell_setting(words.subspan(1)) ? "write it without `command`"
                                            : why_changes_shell(words.subspan(1));
}

/// The operand of `exit`.
bool is_status(const ScriptWord& word) {
  return word.glob || (!word.text.empty() && word.text.size() < 4 &&
                       word.text.find_first_not_of("0123456789") == std::string::npos);
}

/// -e, -u, -x and -o pipefail, also -euo pipefail: the script stops earlier, or shows its commands.
bool sets_only_strictness(std::span<const ScriptWord> operands) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::string& word = operands[i].text;
    if (word.size() < 2 || (word[0] != '-' && word[0] != '+')) return false;
    const bool has_name = word.back() == 'o';
    const std::string letters = word.substr(1, word.size() - 1 - (has_name ? 1 : 0));
    if (letters.find_first_not_of("eux") != std::string::npos) return false;
    if (!has_name) continue;
    if (++i == operands.size() || operands[i].text != "pipefail") return false;
  }
  return !operands.empty();
}

/// Follows the current folder through a script.
class FolderWalk {
 public:
  explicit FolderWalk(std::span<const SimpleCommand> commands) : commands_(commands) {
    found_.folders.resize(commands.size());
  }

  ScriptFolders run(const ScriptNode& root, const std::string& start) {
    walk(root, {{start, true}});
    return std::move(found_);
  }

 private:
  static constexpr std::size_t kMaxStates = 64;
  /// The current folder; whether the last command succeeded.
  using States = std::set<std::pair<std::string, bool>>;

  /// @return the states after the node
  States walk(const ScriptNode& node, const States& before) {
    States after = walk_plain(node, before);
    return node.negated ? either(after) : after;
  }

  States walk_plain(const ScriptNode& node, const States& before) {
    if (before.size() > kMaxStates) found_.too_many = true;
    if (found_.too_many) return before;
    switch (node.kind) {
      case ScriptNode::Kind::command:
        return walk_command(node, before);
      case ScriptNode::Kind::list:
        return walk_list(node, before);
      case ScriptNode::Kind::pipeline:
        for (const ScriptNode& part : node.parts) walk(part, before);
        return either(before);
      case ScriptNode::Kind::subshell:
        walk_list(node, before);
        return either(before);
      case ScriptNode::Kind::choice:
        return walk_choice(node, before);
    }
    return before;
  }

  /// The same folders; the last command may have succeeded or failed.
  static States either(const States& states) {
    States both;
    for (const auto& [folder, succeeded] : states) {
      both.emplace(folder, true);
      both.emplace(folder, false);
    }
    return both;
  }

  States walk_command(const ScriptNode& node, const States& before) {
    const std::vector<ScriptWord>& words = commands_[node.command].words;
    const bool changes = words[0].text == "cd" && words.size() == 2;
    States after;
    for (const auto& [folder, succeeded] : before) {
      found_.folders[node.command].insert(folder);
      after.emplace(changes ? folder_behind(folder, words[1].text) : folder, true);
      after.emplace(folder, false);
    }
    return after;
  }

  States walk_list(const ScriptNode& node, States states) {
    for (const ScriptNode& part : node.parts) {
      const bool first = &part == &node.parts.front();
      const ScriptLink link = first ? ScriptLink::then : part.link;
      States runs;
      States after;
      for (const auto& state : states) {
        const bool skipped = (link == ScriptLink::and_then && !state.second) ||
                             (link == ScriptLink::or_else && state.second);
        (skipped ? after : runs).insert(state);
      }
      // A command that can't be reached is checked all the same.
      after.merge(walk(part, runs.empty() ? states : runs));
      states = std::move(after);
    }
    return states;
  }

  States walk_choice(const ScriptNode& node, States states) {
    States after;
    for (std::size_t i = 0; i + 1 < node.parts.size(); i += 2) {
      const States asked = walk(node.parts[i], states);
      States succeeded;
      States failed;
      for (const auto& state : asked) (state.second ? succeeded : failed).insert(state);
      after.merge(walk(node.parts[i + 1], succeeded.empty() ? asked : succeeded));
      states = failed.empty() ? asked : failed;
    }
    const bool has_else = node.parts.size() % 2 == 1;
    after.merge(has_else ? walk(node.parts.back(), states) : either(states));
    return after;
  }

  std::span<const SimpleCommand> commands_;
  ScriptFolders found_;
};

}  // namespace

std::string folder_behind(const std::string& folder, const std::string& operand) {
  std::string path = (std::filesystem::path(folder) / operand).lexically_normal().string();
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

ScriptFolders follow_folders(const ScriptReading& reading, const std::string& start) {
  return FolderWalk(reading.commands).run(reading.root, start);
}

bool is_shell_setting(std::span<const ScriptWord> words) {
  const std::string& name = words[0].text;
  const auto operands = words.subspan(1);
  const bool literal = std::none_of(operands.begin(), operands.end(), [](const ScriptWord& word) {
    return word.glob && !is_number(word);
  });
  if (!literal) return false;
  if (name == ":") return true;
  if (name == "exit") return operands.size() <= 1 && (operands.empty() || is_status(operands[0]));
  if (name == "set") return sets_only_strictness(operands);
  if (name != "export" || operands.empty()) return false;
  return std::all_of(operands.begin(), operands.end(), [](const ScriptWord& word) {
    const auto equals = word.text.find('=');
    return word.assigns &&
           why_not_harmless(word.text.substr(0, equals), word.text.substr(equals + 1), "").empty();
  });
}

std::string why_changes_shell(std::span<const ScriptWord> words) {
  const std::string& name = words[0].text;
  if (is_shell_setting(words)) return "";
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
    const auto glob = std::find_if(operands.begin(), operands.end(), [](const ScriptWord& word) {
      return word.glob && !is_number(word);
    });
    if (glob != operands.end()) return why_no_glob(name, glob->text);
  }
  return name == "command" ? why_command_changes(words) : "";
}

bool renames_commands(std::string_view name) { return name == "alias" || name == "hash"; }

}  // namespace sortie
