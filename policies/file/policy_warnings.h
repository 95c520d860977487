#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "policies/rules/policy.h"

namespace sortie {

/// Something that the author of a policy probably did not mean.
struct PolicyWarning {
  RulePlace place;  ///< line 0: the policy as a whole
  std::string text;
  bool of_risk = false;  ///< a risk that a run names at its start in any case
};

/// What a run may have besides the policy.
struct PolicySurroundings {
  /// Names of tools of its own (functions); nothing: not known.
  std::optional<std::vector<std::string>> functions{};
  /// Gives the folders in which commands' names are looked up; called at most once, if at all. Not
  /// set: not known.
  std::function<std::vector<std::filesystem::path>()> path{};
  std::filesystem::path home{};  ///< the caller's; "": not known
};
std::vector<PolicyWarning> policy_warnings(const Policy& policy,
                                           const PolicySurroundings& surroundings = {});

/// "policy.yaml:12: warning: …"
std::string warning_text(const Policy& policy, const PolicyWarning& warning);

}  // namespace sortie
