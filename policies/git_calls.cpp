#include "policies/git_calls.h"

#include <algorithm>

#include "policies/shell/lookup.h"
#include "policies/shell/loose_script.h"
#include "policies/shell/wrappers.h"

namespace sortie {

bool may_run_git(std::span<const std::string> argv) {
  if (argv.empty()) return false;
  if (base_name(argv[0]) == "git") return true;
  if (!is_shell(argv[0])) return false;
  const auto script = read_shell_call(argv).script;
  if (!script) return false;
  const auto words = loose_words(*script);
  return std::any_of(words.begin(), words.end(),
                     [](const LooseWord& word) { return could_be(base_name(word.text), "git"); });
}

}  // namespace sortie
