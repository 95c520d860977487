#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "core/catalog/item.h"
#include "core/json/json.h"
#include "policies/engine/approver.h"
#include "policies/engine/engine.h"
#include "tools/tool.h"

namespace sortie {

struct ApprovalOptions {
  Approver* approver = nullptr;  ///< asked where no rule matched; nothing: nobody
  std::string run_id{};
  /// Of the run's budget; not set: enough.
  std::function<std::chrono::milliseconds()> time_left{};
};

/// What was decided of a call, by whom.
struct CallDecision {
  std::vector<Action> actions;
  Decision decision;
  /// All that the approval record says of it: the decision's members, and where they apply
  /// "audited" with the "strict" decision, "approver", "would_allow" and "would_allow_yaml".
  Json record;
  Json flags;  ///< audit flags: an array of names
};

/// Decides on calls: takes them apart, has the engine decide on each action, and asks the approver
/// where no rule matched. Its answers `always` hold as long as this object.
class ApprovalGate {
 public:
  explicit ApprovalGate(const Engine& engine, ApprovalOptions options = {})
      : engine_(engine), options_(std::move(options)) {}

  /// What can't be decided is denied.
  /// @param arguments  fit the tool's schema
  /// @throws ToolError  the tool's own, about arguments that name nothing it could do
  CallDecision decide(const Tool& tool, const ToolCall& call, const Json& arguments, int turn,
                      std::stop_token stop);

 private:
  struct Parts;
  struct Question;
  struct Answer;

  Parts take_apart(const Tool& tool, const ToolCall& call, const Json& arguments) const;
  /// What the approver says, or has said before, of a denial for want of a rule; nothing where it
  /// can't be asked.
  std::optional<Answer> ask(const Question& question, std::stop_token stop);
  Json request(const Question& question, const std::vector<Json>& keys) const;

  const Engine& engine_;
  ApprovalOptions options_;
  std::set<std::string> always_;  ///< keys as JSON
};

/// An action as the approval record and the approver have it.
Json to_json(const Action& action, const Engine& engine);

}  // namespace sortie
