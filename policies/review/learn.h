#pragma once

#include <string>
#include <vector>

#include "policies/review/recorded_call.h"

namespace sortie {

/// The text of a policy that adds to `strict` the smallest allow rules which these runs would have
/// needed: commands by command and subcommand or by all of their words, tools, paths. What no rule
/// should allow (wrappers, shells, sudo, programs given as text, unreadable scripts) and what a
/// rule or the approver denied stands in comments with its reason.
///
/// The same runs give the same text, in whatever order their calls came.
std::string learned_policy(const std::vector<RecordedRun>& runs);

}  // namespace sortie
