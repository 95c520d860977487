#include "policies/engine/git_calls.h"

#include <algorithm>

#include "policies/engine/engine.h"
#include "policies/shell/lookup.h"
#include "policies/shell/loose_script.h"
#include "policies/shell/wrappers.h"

namespace sortie {
namespace {

/// Whether it is git by any path, or a program that runs others and some word could be git.
bool may_call_git(const std::vector<std::string>& argv) {
  const auto could_be_git = [](const std::string& word) {
    return could_be(base_name(word), "git");
  };
  const std::string_view name = base_name(argv[0]);
  if (could_be_git(argv[0])) return true;
  const bool runs_others = is_wrapper(name) || name == "find" || name == "xargs";
  return runs_others && std::any_of(argv.begin(), argv.end(), could_be_git);
}

}  // namespace

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

// Of the engine: for which commands git is kept from what a repository's configuration names.
bool Engine::holds_git(const RunCommand& command) const {
  if (approval_ == Approval::full_auto || command.argv.empty()) return false;
  const CommandPlace place{.workspace = workspace_,
                           .workdir = command.workdir.empty() ? workspace_ : command.workdir,
                           .folders = folders_,
                           .scripts = &scripts_};
  const auto by_no_rule_of_its_own = [&](const std::vector<std::string>& argv,
                                         const std::vector<std::size_t>& globs) {
    if (!may_call_git(argv)) return false;
    const RuleMatch match = commands_.find_allow(argv, place, globs);
    return match.rule == nullptr || !match.rule->command_class.empty();
  };
  const auto reading = read(command);
  if (!reading) {
    // A shell string that is not read as one has words all the same.
    return by_no_rule_of_its_own(command.argv, {}) ||
           (is_shell(command.argv[0]) && may_run_git(command.argv));
  }
  if (reading->refused) return may_run_git(command.argv);
  return std::any_of(reading->commands.begin(), reading->commands.end(), [&](const auto& simple) {
    std::vector<std::string> argv;
    std::vector<std::size_t> globs;
    for (const ScriptWord& word : simple.words) {
      if (word.glob) globs.push_back(argv.size());
      argv.push_back(word.text);
    }
    return by_no_rule_of_its_own(argv, globs);
  });
}

}  // namespace sortie
