#pragma once

#include <string>
#include <vector>

#include "core/text/pattern.h"
#include "policies/rules/action.h"
#include "policies/rules/decision.h"
#include "policies/rules/policy.h"

namespace sortie {

/// The `tools` rules of a policy, their globs compiled. The policy must outlive it.
class ToolRules {
 public:
  /// @throws PatternError
  explicit ToolRules(const std::vector<ToolRule>& rules);
  /// Rules on any of its names hold for a tool, and those on `shell` for `local_shell` as well.
  /// forbid > deny > allow; no match: `run_tests` is allowed, others as the approval says. Globs do
  /// not hold for `run_tests`.
  Decision decide(const CallTool& call, Approval approval) const;

 private:
  struct Compiled {
    const ToolRule* rule;
    std::vector<Pattern> names;
  };
  const ToolRule* find(const CallTool& call, Effect effect) const;
  std::vector<Compiled> rules_;
};

}  // namespace sortie
