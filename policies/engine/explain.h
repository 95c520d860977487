#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "policies/rules/action.h"
#include "policies/rules/decision.h"
#include "policies/rules/policy.h"

namespace sortie {

/// A summary of the policy for the model's prompt: under deny-by-default the allowed commands and
/// tools, at most 1 KiB; under full-auto one sentence.
std::string policy_summary(const Policy& policy, Approval approval);

/// The commands that the model can run in place of a denied one, at most 300 bytes.
std::string allowed_instead(const Policy& policy);

/// The decision for people: "deny: rm x\n  no rule … \n  instead: …", with the rule's file:line.
std::string decision_text(const Decision& decision);

}  // namespace sortie
