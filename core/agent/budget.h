#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/agent/model_limits.h"
#include "core/base/clock.h"
#include "core/catalog/cost.h"
#include "core/catalog/item.h"
#include "core/json/json.h"
#include "core/process/launcher.h"
#include "core/task/task.h"

namespace sortie {

/// A limit that was reached.
struct BudgetLimit {
  std::string which;       ///< "turns", "tool_calls", "tokens", "cost", "time"
  std::int64_t limit = 0;  ///< time in milliseconds, cost in millionths of a USD
  std::int64_t used = 0;
  std::string text;  ///< "tokens 1990000 of 2000000, and the next request may take 34000"
  std::string next;  ///< "--max-tokens 4000000"
  bool operator==(const BudgetLimit&) const = default;
};

/// A response with fewer tokens than this is of little use, unless the task itself says so.
inline constexpr std::int64_t kUsefulOutput = 2048;

/// What a run may use, and has used. Time is the wall clock from construction on, all included.
///
/// What a request may cost at most is reserved before it is sent: the cost that was allowed is
/// never passed by more than the estimate of one request's input was wrong.
class Budget {
 public:
  /// @param models  by Item::source; a model of unknown price costs nothing that could be counted
  Budget(const TaskBudget& limits, const Clock& clock, std::vector<ModelLimits> models = {});

  /// @param estimated_input  tokens of the next request, by estimate
  /// @param max_output       tokens that it may be answered with
  /// @param source           the model that is asked first; those after it may take over
  /// @param paid_output      what any of them is told to answer with at most; 0: its own limit
  std::optional<BudgetLimit> before_request(std::int64_t estimated_input, std::int64_t max_output,
                                            int source = 0, std::int64_t paid_output = 0) const;
  /// The same of another try of a request that has its turn.
  std::optional<BudgetLimit> before_retry(std::int64_t estimated_input, std::int64_t max_output,
                                          int source = 0, std::int64_t paid_output = 0) const;
  /// The tokens of output that are to be asked for at most, so that what is left of tokens and cost
  /// pays for them, whichever model from `source` on answers: a half, a quarter … of what the
  /// largest of them may have, and never less than is of use. 0: what they may have is paid for, or
  /// nothing of use is.
  std::int64_t paid_output(std::int64_t estimated_input, int source = 0) const;
  /// A request is about to be sent: a turn begins.
  void count_turn() noexcept { ++turns_; }
  /// @param source  the model that answered
  /// @return  what it did cost; nothing where the price is unknown
  std::optional<Cost> count_tokens(const Usage& usage, int source = 0) noexcept;
  std::optional<BudgetLimit> after_response() const;
  std::optional<BudgetLimit> before_tool_call() const;
  void count_tool_call() noexcept { ++tool_calls_; }
  /// Whether the time is up.
  std::optional<BudgetLimit> time_up() const;
  /// The time as what ends the run, also where it only would not last for what comes next.
  BudgetLimit time_spent() const;

  /// Once, when 80 % of turns, tokens or time are used: what is left, worded for the model.
  std::optional<std::string> take_notice();

  std::chrono::steady_clock::time_point deadline() const noexcept { return deadline_; }
  /// Never negative.
  std::chrono::milliseconds time_left() const;
  std::chrono::milliseconds time_used() const;
  int turns() const noexcept { return turns_; }
  int tool_calls() const noexcept { return tool_calls_; }
  std::int64_t tokens() const noexcept { return tokens_; }
  /// Of the responses whose price is known.
  Cost cost() const noexcept { return cost_; }
  const TaskBudget& limits() const noexcept { return limits_; }
  /// {"turns","tool_calls","tokens","cost_usd"?,"time_ms"}: what is left; a cost where it is known.
  Json left_json() const;

 private:
  const std::optional<ModelPrice>& price_of(int source) const noexcept;
  bool knows_a_price() const noexcept;
  Cost cost_left() const noexcept;
  std::optional<BudgetLimit> cost_spent(Cost next_request, std::int64_t least_output = 0) const;
  Cost most_of_next(std::int64_t estimated_input, int source, std::int64_t paid_output) const;

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
};

Json to_json(const TaskBudget& limits);

/// A launcher whose commands get at most the time that the budget has left.
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

/// The requests that a stage may take, and has taken.
class StageTurns {
 public:
  /// Of a conversation without stages.
  StageTurns() = default;
  /// @param most  nothing: no limit of the stage's own
  StageTurns(std::string stage, std::optional<int> most) : stage_(std::move(stage)), most_(most) {}

  void count() noexcept { ++used_; }
  /// The limit, where it is reached.
  std::optional<BudgetLimit> spent() const;
  /// Once, when 80 % are used, and not before the first: what is left, worded for the model.
  std::optional<std::string> take_notice();

 private:
  std::string stage_;
  std::optional<int> most_;
  int used_ = 0;
  bool noticed_ = false;
};

}  // namespace sortie
