#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "policies/rules/policy.h"

namespace sortie {

/// The permissions beyond the policy's sandbox that an escalated call gets.
struct Escalation {
  bool writes = false;           ///< may write where the policy's sandbox is read-only
  bool read_only = false;        ///< may not write, though the policy's sandbox allows it
  bool network = false;          ///< has network access whatever the policy's mode
  std::vector<RulePlace> rules;  ///< the rules that granted it: one for each simple command
  bool operator==(const Escalation&) const = default;
};

/// The permissions that all of the rules grant: a call runs in one sandbox, so none of its commands
/// may get more than the rule that grants least.
/// @param rules  at least one, each with `escalate`
Escalation escalation_by(const std::vector<const CommandRule*>& rules);

/// {"granted", "writes", "read_only", "network", "rules"}
Json to_json(const Escalation& escalation);

/// Bytes of a command, or of a part of it, in a message.
inline constexpr std::size_t kLongestPart = 160;

/// The engine's decision on an action.
struct Decision {
  /// What kind of rule allows a command, for the commands beside it.
  enum class Allowed {
    by_prefix,
    as_reading,  ///< by the class read-only: it changes no file
    as_script,   ///< by a rule on programs of the workspace
  };
  Effect effect = Effect::deny;
  RulePlace rule;          ///< line 0: no rule, the approval mode's default
  std::string part;        ///< the part of the command that decided
  std::string reason;      ///< for the operator, the model and the transcript
  std::string instead;     ///< what the model can do instead: "send …", "use …"; may be ""
  bool unmatched = false;  ///< denied because no rule allows it, not by a rule or a fixed limit
  /// Set if only approval mode `audit` allowed it: the effect of strict rules. All other members
  /// except `effect` are those of the strict decision.
  std::optional<Effect> audited{};
  /// The words of the simple command that is not allowed, which may be part of a script; empty if
  /// the decision is not about a single one.
  std::vector<std::string> command{};
  Allowed allowed = Allowed::by_prefix;
  /// Set for an allowed call that asked for escalated permissions, if rules grant them.
  std::optional<Escalation> escalation{};
  bool operator==(const Decision&) const = default;
};

/// The strictest decision: forbid > deny > audited > allow, and a rule or a fixed limit > a missing
/// rule; the first of equals.
const Decision& strictest(const std::vector<Decision>& decisions);

Json to_json(const Decision& decision);

}  // namespace sortie
