#pragma once

#include <string>
#include <vector>

#include "policies/rules/policy.h"

namespace sortie {

/// Something that the author of a policy probably did not mean.
struct PolicyWarning {
  RulePlace place;  ///< line 0: the policy as a whole
  std::string text;
};
std::vector<PolicyWarning> policy_warnings(const Policy& policy);

/// "policy.yaml:12: warning: …"
std::string warning_text(const Policy& policy, const PolicyWarning& warning);

}  // namespace sortie
