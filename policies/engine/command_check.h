#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "policies/engine/engine.h"
#include "policies/rules/policy.h"

namespace sortie {

/// Decides commands by words and paths alone, as `policy check` does: a bare name that is not
/// installed is judged as if it were, paths need not exist. The policy must outlive it.
class CommandCheck {
 public:
  /// @param workdir  absolute; stands for the workspace
  CommandCheck(const Policy& policy, Approval approval, const std::filesystem::path& workdir);
  Decision decide(const std::vector<std::string>& argv) const;
  /// A line of --batch: a JSON array of strings. All else is denied.
  bool allows_line(std::string_view line) const;

 private:
  std::filesystem::path workdir_;
  Engine engine_;
};

/// What the author of a policy probably did not mean.
struct PolicyWarning {
  RulePlace place;  ///< line 0: of the policy as a whole
  std::string text;
};
std::vector<PolicyWarning> policy_warnings(const Policy& policy);

/// "policy.yaml:12: warning: …"
std::string warning_text(const Policy& policy, const PolicyWarning& warning);

}  // namespace sortie
