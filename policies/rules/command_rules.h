#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/text/pattern.h"
#include "policies/rules/action.h"
#include "policies/rules/decision.h"
#include "policies/rules/deny_search.h"
#include "policies/rules/policy.h"

namespace sortie {

/// The `commands` rules of a policy, their globs compiled. The policy must outlive it.
class CommandRules {
 public:
  /// @throws PatternError
  explicit CommandRules(const std::vector<CommandRule>& rules);

  /// The first allow rule that the argv itself matches; wrappers are never seen through.
  /// @param globs  indexes of the words that a shell may expand to file names
  RuleMatch find_allow(std::span<const std::string> argv, const CommandPlace& place,
                       std::span<const std::size_t> globs = {}) const;
  /// The same among the rules that escalate.
  RuleMatch find_escalating(std::span<const std::string> argv, const CommandPlace& place) const;

  /// The strongest forbid or deny rule that matches the argv or anything that it could run:
  /// wrappers and shell strings are unwrapped, and names also match by any path. Each command of a
  /// script that the strict reader accepts is matched as an argv, other scripts are matched
  /// loosely.
  RuleMatch find_deny(std::span<const std::string> argv, const CommandPlace& place) const;

 private:
  template <typename Wanted>
  RuleMatch find_first(std::span<const std::string> argv, const CommandPlace& place,
                       std::span<const std::size_t> globs, Wanted wanted) const;
  std::vector<CompiledRule> rules_;
};

/// The `tools` rules of a policy, their globs compiled. The policy must outlive it.
class ToolRules {
 public:
  /// @throws PatternError
  explicit ToolRules(const std::vector<ToolRule>& rules);
  /// Rules on any of a tool's names apply, and those on `shell` to `local_shell` as well.
  /// forbid > deny > allow; no match: `run_tests` is allowed, others depend on the approval mode.
  /// Globs don't apply to `run_tests`.
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
