#include "policies/rules/escalation.h"

#include <algorithm>

namespace sortie {

Escalation escalation_by(const std::vector<const CommandRule*>& rules) {
  const auto all = [&rules](auto has) {
    return !rules.empty() && std::all_of(rules.begin(), rules.end(), has);
  };
  Escalation escalation;
  escalation.writes = all(
      [](const CommandRule* rule) { return rule->sandbox.mode == SandboxMode::workspace_write; });
  escalation.read_only = std::any_of(rules.begin(), rules.end(), [](const CommandRule* rule) {
    return rule->sandbox.mode == SandboxMode::read_only;
  });
  escalation.network =
      all([](const CommandRule* rule) { return rule->sandbox.network == NetworkMode::full; });
  for (const CommandRule* rule : rules) escalation.rules.push_back(rule->place);
  return escalation;
}

Json to_json(const Escalation& escalation) {
  Json rules = Json::array();
  for (const RulePlace& place : escalation.rules)
    rules.push_back(
        Json::object({{"file", place.file}, {"line", place.line}, {"text", place.text}}));
  return Json::object({{"granted", true},
                       {"writes", escalation.writes},
                       {"read_only", escalation.read_only},
                       {"network", escalation.network},
                       {"rules", std::move(rules)}});
}

}  // namespace sortie
