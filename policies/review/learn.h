#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "policies/rules/action.h"
#include "policies/rules/decision.h"
#include "policies/rules/policy.h"

namespace sortie {

/// A tool call of a finished run, from its approval record.
struct RecordedCall {
  int turn = 0;
  std::string tool;
  std::vector<Action> actions;  ///< the call of the tool first
  Effect effect = Effect::deny;
  RulePlace rule;  ///< line 0: none
  std::string reason;
  bool audited = false;  ///< only the approval mode audit let it run
  /// Denied by a rule, the approver or a fixed limit, not just since no rule matched.
  bool refused = false;
  /// Decided by more than the policy: the approver answered, or a stage had a sandbox of its own.
  bool depends = false;
};

/// A connection that a command was denied.
struct DeniedConnection {
  std::string place;  ///< "example.org:443"
  std::string entry;  ///< of `network.allow`, that would allow it; "" if none should
  std::string reason;
};

/// The calls of a run, in order.
struct RecordedRun {
  std::string name;                 ///< as the caller named it
  std::filesystem::path workspace;  ///< as commands saw it
  std::filesystem::path out;        ///< absolute
  std::filesystem::path task;       ///< its file, or ""
  std::vector<RecordedCall> calls;
  std::vector<DeniedConnection> denied_connections;
};

/// The text of a policy that adds to `strict` the smallest allow rules that these runs needed:
/// commands by command and subcommand or by all their words, tools, paths, hosts that the run's list
/// lacked. Comments list, with the reason, what no rule should allow (wrappers, shells, sudo, programs
/// given as text, unreadable scripts, the machine's own network) and what a rule or the approver
/// denied.
///
/// The same runs give the same text, regardless of the order of their calls.
std::string learned_policy(const std::vector<RecordedRun>& runs);

/// The decisions of a policy on recorded runs, compared with the recorded ones.
struct Backtest {
  struct Change {
    std::string run;  ///< its name
    const RecordedCall* call = nullptr;
    Decision now;
    bool asks = false;  ///< the policy's approver would be asked
  };
  int runs = 0;
  int calls = 0;
  int newly_allowed = 0;
  int newly_denied = 0;
  int newly_asked = 0;  ///< allowed then; now the approver would decide
  int otherwise = 0;    ///< deny became forbid, or the other way round
  std::vector<Change> changes;

  /// The changes, and a line of totals, for people.
  std::string text() const;
};

/// Pure, except that the engine reads lookup folders. The runs must outlive the result.
Backtest backtest(const Policy& policy, const std::vector<RecordedRun>& runs);

}  // namespace sortie
