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

}  // namespace sortie
