#include <algorithm>

#include "policies/engine/engine.h"
#include "policies/shell/wrappers.h"

namespace sortie {

std::optional<Escalation> Engine::find_escalation(const RunCommand& command) const {
  auto granted = escalation_by_rules(command);
  if (granted && limits_.read_only) {
    granted->writes = false;
    granted->read_only = true;
  }
  return granted;
}

std::optional<Escalation> Engine::escalation_by_rules(const RunCommand& command) const {
  if (!policy_.escalation || command.argv.empty()) return std::nullopt;
  const CommandPlace place{.workspace = workspace_,
                           .workdir = command.workdir.empty() ? workspace_ : command.workdir,
                           .folders = folders_,
                           .scripts = &scripts_};
  // What runs beside a program of the workspace could change it.
  const RunningBeside beside = running_beside();
  const bool may_be_changed = !beside.writer().empty();
  if (may_be_changed && beside.unguarded) return std::nullopt;
  if (commands_.find_deny(command.argv, place).rule != nullptr) return std::nullopt;
  const auto reading = read(command);
  if (!reading) {
    // A shell string that is not even read grants nothing, whatever rule names the shell.
    if (is_shell(command.argv[0]) && read_shell_call(command.argv).script) return std::nullopt;
    const RuleMatch match = commands_.find_escalating(command.argv, place);
    if (match.rule == nullptr) return std::nullopt;
    if (!match.rule->script.empty() && may_be_changed) return std::nullopt;
    return escalation_by({match.rule});
  }
  std::vector<const CommandRule*> rules;
  for (const SimpleCommand& simple : reading->commands) {
    std::vector<std::string> argv;
    for (const ScriptWord& word : simple.words) {
      if (word.glob) return std::nullopt;  // what it becomes is not known
      argv.push_back(word.text);
    }
    const RuleMatch match = commands_.find_escalating(argv, place);
    if (match.rule == nullptr) return std::nullopt;
    if (!match.rule->script.empty() && (may_be_changed || reading->commands.size() > 1))
      return std::nullopt;
    rules.push_back(match.rule);
  }
  if (rules.empty()) return std::nullopt;
  return escalation_by(rules);
}

}  // namespace sortie
