#include "policies/rules/decision.h"

#include <algorithm>

namespace sortie {
namespace {

/// By effect; of equals, a rule or a fixed limit goes before a missing rule.
int rank(const Decision& decision) {
  const bool stands_in_the_way = decision.effect != Effect::allow || decision.audited;
  return static_cast<int>(decision.effect) * 3 +
         (stands_in_the_way ? (decision.unmatched ? 1 : 2) : 0);
}

}  // namespace

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

const Decision& strictest(const std::vector<Decision>& decisions) {
  static const Decision kNothingAsked = [] {
    Decision decision;
    decision.reason = "nothing was asked";
    return decision;
  }();
  const auto it =
      std::max_element(decisions.begin(), decisions.end(),
                       [](const Decision& a, const Decision& b) { return rank(a) < rank(b); });
  return it == decisions.end() ? kNothingAsked : *it;
}

Json to_json(const Decision& decision) {
  Json json = Json::object({{"decision", name_of(decision.effect)}});
  if (decision.rule.line > 0) {
    json.set("rule", Json::object({{"file", decision.rule.file},
                                   {"line", decision.rule.line},
                                   {"text", decision.rule.text}}));
  }
  if (!decision.part.empty()) json.set("part", decision.part);
  if (!decision.reason.empty()) json.set("reason", decision.reason);
  if (!decision.instead.empty()) json.set("instead", decision.instead);
  if (decision.audited) json.set("audited", true);
  if (decision.escalation) json.set("escalation", to_json(*decision.escalation));
  return json;
}

}  // namespace sortie
