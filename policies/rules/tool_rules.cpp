#include "policies/rules/tool_rules.h"

#include <algorithm>

namespace sortie {
namespace {

bool names_it(const ToolRule& rule, const std::string& tool) {
  return std::find(rule.names.begin(), rule.names.end(), tool) != rule.names.end();
}

}  // namespace

ToolRules::ToolRules(const std::vector<ToolRule>& rules) {
  for (const ToolRule& rule : rules) {
    Compiled compiled{.rule = &rule, .names = {}};
    for (const std::string& glob : rule.names) {
      compiled.names.push_back(Pattern::word_glob(glob));
    }
    rules_.push_back(std::move(compiled));
  }
}

const ToolRule* ToolRules::find(const CallTool& call, Effect effect) const {
  std::vector<std::string> names = call.other_names;
  names.push_back(call.name);
  // Some models know the shell tool by another name: what is said of it holds for that too.
  if (call.name == "local_shell") names.emplace_back("shell");
  for (const Compiled& compiled : rules_) {
    if (compiled.rule->effect != effect) continue;
    // A glob is not about the task's own verification; who wants to be without it says its name.
    if (call.name == "run_tests" && !names_it(*compiled.rule, call.name)) continue;
    for (const std::string& name : names)
      if (any_matches(compiled.names, name)) return compiled.rule;
  }
  return nullptr;
}

Decision ToolRules::decide(const CallTool& call, Approval approval) const {
  const std::string& name = call.name;
  for (const Effect effect : {Effect::forbid, Effect::deny, Effect::allow}) {
    const ToolRule* rule = find(call, effect);
    if (rule == nullptr) continue;
    const std::string verb = effect == Effect::allow ? "allows" : "refuses";
    return {.effect = effect,
            .rule = rule->place,
            .part = name,
            .reason = rule->why.empty() ? "a rule " + verb + " the tool " + name : rule->why};
  }
  if (name == "run_tests") {
    return {.effect = Effect::allow, .part = name, .reason = "verification is always allowed"};
  }
  if (approval == Approval::full_auto) {
    return {.effect = Effect::allow, .part = name, .reason = "full-auto: no rule denies it"};
  }
  return {.effect = Effect::deny,
          .part = name,
          .reason = "no rule allows the tool " + name,
          .unmatched = true};
}

}  // namespace sortie
