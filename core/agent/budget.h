#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/agent/model_limits.h"
#include "core/agent/shared_budget.h"
#include "core/base/clock.h"
#include "core/catalog/cost.h"
#include "core/catalog/item.h"
#include "core/json/json.h"
#include "core/process/launcher.h"
#include "core/record/run_events.h"
#include "core/record/run_history.h"
#include "core/task/task.h"

namespace sortie {

/// A limit that was reached.
struct BudgetLimit {
  BudgetKind which = BudgetKind::turns;
  std::int64_t limit = 0;  ///< time in milliseconds, cost in millionths of a USD
  std::int64_t used = 0;
  std::string text;  ///< "tokens 1990000 of 2000000, and the next request may take 34000"
  std::string next;  ///< "--max-tokens 4000000"
  bool operator==(const BudgetLimit&) const = default;
};

/// A response with fewer tokens than this is of little use, unless the task itself says so.
inline constexpr std::int64_t kUsefulOutput = 2048;

/// What a run may use, and has used. Time is the wall clock since construction.
///
/// The maximum cost of a request is reserved before it is sent, so the cost limit is exceeded by no
/// more than the error in one estimate of a request's input.
class Budget {
 public:
  /// @param models  by Item::source; responses of models without a known price are not counted
  Budget(const TaskBudget& limits, const Clock& clock, std::vector<ModelLimits> models = {});

  /// Makes the limits those of a sum of several processes, this one and the others of `pool`. Call it
  /// first.
  /// @param pool  outlives this object
  void share(SharedBudget& pool, int share) noexcept;

  /// The limit that forbids the next request, if any.
  /// @param estimated_input  tokens of the next request
  /// @param max_output       maximum tokens of its response
  /// @param source           the model that is asked first; those after it may take over
  /// @param paid_output      a lower maximum set for all of them; 0: each one's own limit
  std::optional<BudgetLimit> before_request(std::int64_t estimated_input, std::int64_t max_output,
                                            int source = 0, std::int64_t paid_output = 0) const;
  /// The same for a retry, which takes no new turn.
  std::optional<BudgetLimit> before_retry(std::int64_t estimated_input, std::int64_t max_output,
                                          int source = 0, std::int64_t paid_output = 0) const;
  /// Sets aside what the next request may take, if the budget is shared; to be called right before
  /// the request, since the others use the budget meanwhile. It is given back by count_tokens().
  /// @param begins_turn  it takes a turn too
  /// @return  the limit that forbids the request, if any; always nothing if the budget is not shared
  std::optional<BudgetLimit> set_aside(std::int64_t estimated_input, std::int64_t max_output,
                                       int source, std::int64_t paid_output, bool begins_turn);
  /// The maximum output to ask for, so that the tokens and cost left pay for it, whichever model
  /// from `source` on answers: a half, a quarter … of the largest model's limit, at least
  /// kUsefulOutput. 0: no reduction is needed, or none would be enough.
  std::int64_t paid_output(std::int64_t estimated_input, int source = 0) const;
  /// Adds what an earlier process of the same run has used.
  void take_up(const UsedBudget& used) noexcept;
  /// To be called before a request that begins a turn.
  void count_turn() noexcept;
  /// @param source  the model that answered
  /// @return  the cost; nothing if the price is unknown
  std::optional<Cost> count_tokens(const Usage& usage, int source = 0) noexcept;
  std::optional<BudgetLimit> after_response() const;
  /// The limit that forbids the next tool call; if there is none, one call is set aside.
  std::optional<BudgetLimit> before_tool_call();
  /// How many calls may be run now, `wanted` at most; they are set aside.
  int allowed_calls(int wanted);
  void count_tool_call() noexcept;
  /// The time limit, if it is reached.
  std::optional<BudgetLimit> time_up() const;
  /// The time limit, reached or not: for a run that ends because the time left is too short.
  BudgetLimit time_spent() const;

  /// Once, when 80 % of turns, tokens or time are used: a message to the model with what is left.
  std::optional<std::string> take_notice();

  std::chrono::steady_clock::time_point deadline() const noexcept { return deadline_; }
  /// Rounded up: what is given this time ends no earlier than the run. 0 only when the time is
  /// up.
  std::chrono::milliseconds time_left() const;
  std::chrono::milliseconds time_used() const;
  int turns() const noexcept { return turns_; }
  int tool_calls() const noexcept { return tool_calls_; }
  std::int64_t tokens() const noexcept { return tokens_; }
  /// The cost of the responses whose price is known.
  Cost cost() const noexcept { return cost_; }
  const TaskBudget& limits() const noexcept { return limits_; }
  /// What is left: {"turns","tool_calls","tokens","cost_usd"?,"time_ms"}, with a cost if it is
  /// known.
  Json left_json() const;

 private:
  using Use = SharedBudget::Use;
  /// What was used of the limits: by this process, and by the others that share them.
  Use used() const { return pool_ == nullptr ? own() : own() + pool_->others(share_); }
  Use own() const noexcept { return {turns_, tool_calls_, tokens_, cost_}; }
  std::optional<BudgetLimit> limit_of(const Use& used, std::int64_t estimated_input,
                                      std::int64_t max_output, int source, std::int64_t paid_output,
                                      bool begins_turn) const;
  std::optional<BudgetLimit> calls_spent(const Use& used) const;
  const std::optional<ModelPrice>& price_of(int source) const noexcept;
  bool knows_a_price() const noexcept;
  std::optional<BudgetLimit> cost_spent(const Use& used, Cost next_request,
                                        std::int64_t least_output = 0) const;
  Cost max_next_cost(std::int64_t estimated_input, int source, std::int64_t paid_output) const;

  TaskBudget limits_;
  const Clock& clock_;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point deadline_;
  int turns_ = 0;
  int tool_calls_ = 0;
  std::int64_t tokens_ = 0;
  std::vector<ModelLimits> models_;
  Cost cost_limit_;
  Cost cost_;
  bool noticed_ = false;
  SharedBudget* pool_ = nullptr;
  int share_ = 0;
};

Json to_json(const TaskBudget& limits);

/// A launcher that limits commands to the time left in the budget.
class BudgetedLauncher : public Launcher {
 public:
  BudgetedLauncher(Launcher& launcher, const Budget& budget)
      : launcher_(launcher), budget_(budget) {}
  std::unique_ptr<RunningCommand> start(const Command& command) override {
    return launcher_.start(command);
  }
  std::chrono::milliseconds time_left() const override {
    return std::min(launcher_.time_left(), budget_.time_left());
  }

 private:
  Launcher& launcher_;
  const Budget& budget_;
};

/// The requests that a stage may make, and has made.
class StageTurns {
 public:
  /// For a conversation without stages.
  StageTurns() = default;
  /// @param limit  nothing: the stage has no limit of its own
  /// @param used   by an earlier process of the run
  StageTurns(std::string stage, std::optional<int> limit, int used = 0)
      : stage_(std::move(stage)), limit_(limit), used_(used) {}

  void count() noexcept { ++used_; }
  /// The limit, if it is reached.
  std::optional<BudgetLimit> spent() const;
  /// Once, when 80 % are used, and at least one turn: a message to the model with what is left.
  std::optional<std::string> take_notice();

 private:
  std::string stage_;
  std::optional<int> limit_;
  int used_ = 0;
  bool noticed_ = false;
};

}  // namespace sortie
