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
  Approver* approver = nullptr;  ///< asked where no rule matched; null: denied without asking
  std::string run_id{};
  /// Time left in the run's budget; not set: unlimited.
  std::function<std::chrono::milliseconds()> time_left{};
};

/// The decision on a call, and who made it.
struct CallDecision {
  std::vector<Action> actions;
  Decision decision;
  /// The approval record: the decision's members and, where they apply, "strict" (audit mode),
  /// "approver", "would_allow" and "would_allow_yaml".
  Json record;
  Json flags;  ///< audit flags: an array of names
};

/// Decides on calls: splits them into actions, lets the engine decide on each, and asks the
/// approver where no rule matched. An answer `always` is remembered for the lifetime of this
/// object.
class ApprovalGate {
 public:
  explicit ApprovalGate(const Engine& engine, ApprovalOptions options = {})
      : engine_(engine), options_(std::move(options)) {}

  /// Denies what can't be decided.
  /// @param arguments  valid for the tool's schema
  /// @throws ToolError  from the tool, when the arguments are unusable
  CallDecision decide(const Tool& tool, const ToolCall& call, const Json& arguments, int turn,
                      std::stop_token stop);

 private:
  struct Parts;
  struct Question;
  struct Answer;

  Parts split(const Tool& tool, const ToolCall& call, const Json& arguments) const;
  /// The approver's answer, or its remembered one, for a call that no rule matched; nothing if it
  /// can't be asked.
  std::optional<Answer> ask(const Question& question, std::stop_token stop);
  Json request(const Question& question, const std::vector<Json>& keys) const;

  const Engine& engine_;
  ApprovalOptions options_;
  std::set<std::string> always_;  ///< keys as JSON
};

/// An action in the form of the approval record and the approver's request.
Json to_json(const Action& action, const Engine& engine);

}  // namespace sortie
