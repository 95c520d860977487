#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "policies/rules/policy.h"

namespace sortie {

/// What a call that asked for escalated permissions gets beyond the policy's sandbox.
struct Escalation {
  bool writes = false;           ///< may write where the policy's sandbox is read-only
  bool read_only = false;        ///< may not write, though the policy's sandbox lets others
  bool network = false;          ///< reaches the network whatever the policy's mode
  std::vector<RulePlace> rules;  ///< that granted it: one for each simple command
  bool operator==(const Escalation&) const = default;
};

/// What all of the rules grant: a call runs in one sandbox, so that each of its commands gets no
/// more than the rule that allows least.
/// @param rules  at least one, each with `escalate`
Escalation escalation_by(const std::vector<const CommandRule*>& rules);

/// {"granted", "writes", "read_only", "network", "rules"}
Json to_json(const Escalation& escalation);

/// Bytes of a command, or of a part of it, in what is said of it.
inline constexpr std::size_t kLongestPart = 160;

/// What the engine says of an action, and why.
struct Decision {
  Effect effect = Effect::deny;
  RulePlace rule;          ///< line 0: no rule, the approval mode's default
  std::string part;        ///< the part of the command that it was about
  std::string reason;      ///< in words, for the operator and the transcript
  std::string instead;     ///< what is allowed instead, for the model; may be ""
  bool unmatched = false;  ///< denied for want of an allow rule, not by a rule or a fixed limit
  /// Where the approval mode audit alone allowed it: the effect that strict rules would have had.
  /// The other members, `effect` aside, are those of that strict decision.
  std::optional<Effect> audited{};
  /// The words of the simple command that is not allowed, which may be one of a script's; empty where
  /// the decision is about no single one.
  std::vector<std::string> command{};
  /// What an allowed call that asked for escalated permissions gets, where rules grant them.
  std::optional<Escalation> escalation{};
  bool operator==(const Decision&) const = default;
};

/// The strictest of them: forbid over deny over audited over allow, and what a rule or a fixed
/// limit says over the want of a rule; the first of equals.
const Decision& strictest(const std::vector<Decision>& decisions);

Json to_json(const Decision& decision);

}  // namespace sortie
