#pragma once

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

}  // namespace sortie
