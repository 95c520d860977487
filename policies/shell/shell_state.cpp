#include "policies/shell/shell_state.h"

#include <algorithm>
#include <array>

namespace sortie {
namespace {

/// Built-ins of bash 5.2 that change variables, options, names or folders of the shell, or that
/// run or evaluate what a word holds: `unset 'a[$(x)]'` runs x.
constexpr std::array<std::string_view, 49> kChanging = {
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

}  // namespace

std::string why_changes_shell(std::span<const ScriptWord> words) {
  const std::string& name = words[0].text;
  if (std::find(kChanging.begin(), kChanging.end(), name) != kChanging.end()) {
    return name + " changes the shell for what follows, or runs what its words hold";
  }
  const auto operands = words.subspan(1);
  if (name == "printf" && !operands.empty() && (operands[0].glob || operands[0].text[0] == '-') &&
      operands[0].text != "--") {
    return "printf with an option sets a variable of the shell";
  }
  if ((name == "test" || name == "[") && (has_word(operands, "-v") || has_word(operands, "-R"))) {
    return name + " -v evaluates what stands in brackets";
  }
  const bool asks = words.size() == 3 && (words[1].text == "-v" || words[1].text == "-V");
  if (name == "command" && !(asks && !words[2].glob)) {
    return "of command only `command -v NAME` leaves the shell as it is";
  }
  return "";
}

bool renames_commands(std::string_view name) { return name == "alias" || name == "hash"; }

}  // namespace sortie
