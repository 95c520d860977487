#pragma once

#include <string>
#include <utility>
#include <vector>

#include "policies/rules/policy.h"

namespace sortie::tests {

inline CommandRule command_rule(Effect effect, std::vector<std::vector<std::string>> prefix,
                                std::vector<std::string> but_not = {}) {
  CommandRule rule{.effect = effect, .prefix = std::move(prefix), .command_class = {}};
  rule.but_not_args = std::move(but_not);
  rule.place = {.file = "policy.yaml", .line = 7, .text = "the rule"};
  return rule;
}

inline CommandRule read_only_rule() {
  CommandRule rule{.effect = Effect::allow, .prefix = {}, .command_class = "read-only"};
  rule.place = {.file = "strict", .line = 3, .text = "allow: {class: read-only}"};
  return rule;
}

/// Deny-by-default with the class read-only, and the rules given.
inline Policy strict_policy(std::vector<CommandRule> rules = {}) {
  Policy policy;
  policy.commands = {read_only_rule()};
  policy.commands.insert(policy.commands.end(), rules.begin(), rules.end());
  return policy;
}

inline Policy auto_policy(std::vector<CommandRule> rules = {}) {
  Policy policy;
  policy.approval = Approval::full_auto;
  policy.unreadable_allow = true;
  policy.commands = std::move(rules);
  return policy;
}

}  // namespace sortie::tests
