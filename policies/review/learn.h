#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "policies/rules/action.h"
#include "policies/rules/policy.h"

namespace sortie {

/// A tool call of a finished run, as its approval record has it.
struct RecordedCall {
  int turn = 0;
  std::string tool;
  std::vector<Action> actions;  ///< the call of the tool first
  Effect effect = Effect::deny;
  RulePlace rule;  ///< line 0: none
  std::string reason;
  bool audited = false;  ///< the approval mode audit alone let it run
  /// A rule, the approver or a fixed limit said no: not just the want of a rule.
  bool refused = false;
};

/// The calls of a run, in their order.
struct RecordedRun {
  std::string name;                 ///< as the caller named it
  std::filesystem::path workspace;  ///< as commands saw it
  std::filesystem::path out;        ///< absolute
  std::filesystem::path task;       ///< its file, or ""
  std::vector<RecordedCall> calls;
};

/// The PATH that a recorded call is judged with: what the machine had is not recorded.
inline const std::vector<std::filesystem::path> kUsualFolders = {
    "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"};

/// The text of a policy that adds to `strict` the smallest allow rules which these runs would have
/// needed: commands by command and subcommand or by all of their words, tools, paths. What no rule
/// should allow (wrappers, shells, sudo, programs given as text, unreadable scripts) and what a
/// rule or the approver denied stands in comments with its reason.
///
/// The same runs give the same text, in whatever order their calls came.
std::string learned_policy(const std::vector<RecordedRun>& runs);

}  // namespace sortie
