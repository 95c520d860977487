#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/text/pattern.h"
#include "policies/rules/compiled_rule.h"
#include "policies/rules/policy.h"
#include "policies/rules/running_beside.h"
#include "policies/rules/script_rule.h"

namespace sortie {

/// The `commands` rules of a policy, their globs compiled. The policy must outlive it.
class CommandRules {
 public:
  /// @throws PatternError
  explicit CommandRules(const std::vector<CommandRule>& rules);

  /// The first allow rule that the argv itself matches; wrappers are never seen through.
  /// @param globs  the words, by number, that a shell may turn into names of files
  RuleMatch find_allow(std::span<const std::string> argv, const CommandPlace& place,
                       std::span<const std::size_t> globs = {}) const;
  /// The same among the rules that escalate.
  RuleMatch find_escalating(std::span<const std::string> argv, const CommandPlace& place) const;

  /// The strongest forbid or deny rule that the argv, or anything that it could run, matches:
  /// wrappers and shell strings are seen through, and names also match by any path. Each command
  /// of a script that the strict reader reads is matched as an argv is, other scripts loosely.
  RuleMatch find_deny(std::span<const std::string> argv, const CommandPlace& place) const;

 private:
  template <typename Wanted>
  RuleMatch find_first(std::span<const std::string> argv, const CommandPlace& place,
                       std::span<const std::size_t> globs, Wanted wanted) const;
  std::vector<CompiledRule> rules_;
};

/// Whether one rule matches a direct argv, as find_allow judges: for the examples of a rule.
/// @throws PatternError
bool rule_matches(const CommandRule& rule, const std::vector<std::string>& argv,
                  const CommandPlace& place);

}  // namespace sortie
