#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "policies/rules/action.h"
#include "policies/rules/decision.h"
#include "policies/rules/policy.h"

namespace sortie {

/// What the model is to know of the policy before its first call: under deny-by-default the
/// commands and tools that are allowed, at most 1 KiB; under full-auto one sentence.
std::string policy_summary(const Policy& policy, Approval approval);

/// What is allowed in place of a denied command, at most 300 bytes.
std::string allowed_instead(const Policy& policy);

/// The decision for people: "deny: rm x\n  no rule … \n  instead: …", with the rule's file:line.
std::string decision_text(const Decision& decision);

}  // namespace sortie
