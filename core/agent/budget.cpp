#include "core/agent/budget.h"

#include <algorithm>

namespace sortie {
namespace {

using std::chrono::milliseconds;

std::string number(std::int64_t value) { return std::to_string(value); }

/// "90 s", "4.2 s" or "250 ms".
std::string time_text(std::int64_t ms) {
  if (ms % 1000 == 0 || ms >= 10'000) return number(ms / 1000) + " s";
  if (ms < 1000) return number(ms) + " ms";
  return number(ms / 1000) + "." + number(ms / 100 % 10) + " s";
}

BudgetLimit spent(BudgetKind which, std::int64_t limit, std::int64_t used, const char* option,
                  const std::string& more = {}) {
  BudgetLimit what{which, limit, used, {}, {}};
  what.text = name_of(which) + (" " + number(used)) + " of " + number(limit) + more;
  what.next = std::string(option) + " " + number(std::max<std::int64_t>(limit, 1) * 2);
  return what;
}

/// Whether `used` is at least 80 % of `limit`.
bool mostly_used(std::int64_t used, std::int64_t limit) {
  return used >= limit / 5 * 4 + limit % 5;
}

/// A limit to try next: `least` rounded up to two digits.
std::string rounded_limit(Cost least) {
  std::int64_t micros = std::max<std::int64_t>(1, least.to_micros());
  std::int64_t step = 1;
  while (micros / step > 99) step *= 10;
  micros = (micros + step - 1) / step * step;
  return Cost::micros(micros).exact();
}

}  // namespace

Budget::Budget(const TaskBudget& limits, const Clock& clock, std::vector<ModelLimits> models)
    : limits_(limits),
      clock_(clock),
      started_(clock.steady()),
      deadline_(started_ + limits.time),
      models_(std::move(models)),
      cost_limit_(Cost::usd(limits.cost)) {}

const std::optional<ModelPrice>& Budget::price_of(int source) const noexcept {
  static const std::optional<ModelPrice> unknown;
  const auto index = static_cast<std::size_t>(source);
  return source >= 0 && index < models_.size() ? models_[index].price : unknown;
}

bool Budget::knows_a_price() const noexcept {
  return std::any_of(models_.begin(), models_.end(),
                     [](const ModelLimits& model) { return model.price.has_value(); });
}

void Budget::share(SharedBudget& pool, int share) noexcept {
  pool_ = &pool;
  share_ = share;
  deadline_ = pool.deadline();
}

void Budget::count_turn() noexcept {
  ++turns_;
  if (pool_ == nullptr) return;
  pool_->change(share_, [this](SharedBudget::Share& mine, const Use&) {
    mine.used = own();
    mine.aside.turns = 0;
  });
}

void Budget::count_tool_call() noexcept {
  ++tool_calls_;
  if (pool_ == nullptr) return;
  pool_->change(share_, [this](SharedBudget::Share& mine, const Use&) {
    mine.used = own();
    mine.aside.tool_calls = std::max<std::int64_t>(0, mine.aside.tool_calls - 1);
  });
}

/// The cost limit, if it does not allow the next request.
std::optional<BudgetLimit> Budget::cost_spent(const Use& used, Cost next_request,
                                              std::int64_t least_output) const {
  if (!knows_a_price() || used.cost + next_request <= cost_limit_) return {};
  BudgetLimit what{BudgetKind::cost, cost_limit_.to_micros(), used.cost.to_micros(), {}, {}};
  what.text =
      "cost " + used.cost.text() + " of " + cost_limit_.text() + " USD at turn " + number(turns_);
  if (next_request > Cost()) what.text += ", and the next request may take " + next_request.text();
  what.next = "--max-cost " + rounded_limit(std::max(Cost::usd(limits_.cost * 1.6),
                                                     used.cost + next_request + next_request));
  if (least_output > 0)
    what.next += ", or a model.max_output_tokens below " + number(least_output) + " in the task";
  return what;
}

std::optional<BudgetLimit> Budget::before_request(std::int64_t estimated_input,
                                                  std::int64_t max_output, int source,
                                                  std::int64_t paid_output) const {
  return limit_of(used(), estimated_input, max_output, source, paid_output, true);
}

std::optional<BudgetLimit> Budget::before_retry(std::int64_t estimated_input,
                                                std::int64_t max_output, int source,
                                                std::int64_t paid_output) const {
  return limit_of(used(), estimated_input, max_output, source, paid_output, false);
}

std::optional<BudgetLimit> Budget::set_aside(std::int64_t estimated_input, std::int64_t max_output,
                                             int source, std::int64_t paid_output,
                                             bool begins_turn) {
  std::optional<BudgetLimit> out;
  if (pool_ == nullptr) return out;
  const std::int64_t output = paid_output > 0 ? std::min(max_output, paid_output) : max_output;
  pool_->change(share_, [&](SharedBudget::Share& mine, const Use& others) {
    out = limit_of(own() + others, estimated_input, max_output, source, paid_output, begins_turn);
    if (out) return;
    mine.aside.turns = begins_turn ? 1 : 0;
    mine.aside.tokens = estimated_input + output;
    mine.aside.cost = max_next_cost(estimated_input, source, paid_output);
  });
  return out;
}

/// The maximum over the current model and its fallbacks: any of them may answer.
Cost Budget::max_next_cost(std::int64_t estimated_input, int source,
                           std::int64_t paid_output) const {
  Cost dearest;
  for (int each = source; static_cast<std::size_t>(each) < models_.size(); ++each) {
    const auto& price = price_of(each);
    if (!price) continue;
    std::int64_t output = models_[static_cast<std::size_t>(each)].max_output_tokens;
    if (paid_output > 0) output = std::min(output, paid_output);
    dearest = std::max(dearest, most_for(estimated_input, output, *price));
  }
  return dearest;
}

/// @param used  with what others have set aside
std::optional<BudgetLimit> Budget::limit_of(const Use& used, std::int64_t estimated_input,
                                            std::int64_t max_output, int source,
                                            std::int64_t paid_output, bool begins_turn) const {
  if (const auto up = time_up()) return up;
  if (begins_turn && used.turns >= limits_.turns)
    return spent(BudgetKind::turns, limits_.turns, used.turns, "--max-turns");
  if (used.tokens >= limits_.tokens)
    return spent(BudgetKind::tokens, limits_.tokens, used.tokens, "--max-tokens");
  const std::int64_t output = paid_output > 0 ? std::min(max_output, paid_output) : max_output;
  const std::int64_t most = estimated_input + output;
  if (most > limits_.tokens - used.tokens) {
    BudgetLimit what = spent(BudgetKind::tokens, limits_.tokens, used.tokens, "--max-tokens",
                             ", and the next request may take " + number(most));
    what.next = "--max-tokens " + number(std::max(limits_.tokens * 2, used.tokens + most * 2));
    return what;
  }
  // If the input alone costs too much, a lower max_output_tokens would not help.
  const bool output_counts = used.cost + max_next_cost(estimated_input, source, 1) <= cost_limit_;
  return cost_spent(used, max_next_cost(estimated_input, source, paid_output),
                    output_counts ? std::min(output, kUsefulOutput) : 0);
}

std::int64_t Budget::paid_output(std::int64_t estimated_input, int source) const {
  std::int64_t own = 0;
  std::int64_t largest = 0;
  for (std::size_t i = static_cast<std::size_t>(std::max(0, source)); i < models_.size(); ++i) {
    // A model whose servers refuse a limit would not keep to it.
    if (!models_[i].takes_output_limit) return 0;
    if (own == 0) own = models_[i].max_output_tokens;
    largest = std::max(largest, models_[i].max_output_tokens);
  }
  const Use all = used();
  const auto is_paid = [&](std::int64_t output) {
    return estimated_input + output <= limits_.tokens - all.tokens &&
           (!knows_a_price() ||
            all.cost + max_next_cost(estimated_input, source, output) <= cost_limit_);
  };
  if (largest == 0 || is_paid(largest)) return 0;
  const std::int64_t least = std::min(own, kUsefulOutput);
  for (std::int64_t output = largest / 2; output >= least; output /= 2)
    if (is_paid(output)) return output;
  return is_paid(least) ? least : 0;
}

void Budget::take_up(const UsedBudget& used) noexcept {
  turns_ += used.turns;
  tool_calls_ += used.tool_calls;
  tokens_ += used.tokens;
  cost_ += used.cost;
  started_ -= used.time;
  // The time of several processes is that of all of them.
  if (pool_ == nullptr) deadline_ -= used.time;
  if (pool_ != nullptr) pool_->take_up(share_, own());
}

std::optional<Cost> Budget::count_tokens(const Usage& usage, int source) noexcept {
  tokens_ += counted_tokens(usage);
  std::optional<Cost> cost;
  if (const auto& price = price_of(source)) cost_ += *(cost = cost_of(usage, *price));
  if (pool_ != nullptr)
    pool_->change(share_, [this](SharedBudget::Share& mine, const Use&) {
      mine.used = own();
      mine.aside.tokens = 0;
      mine.aside.cost = {};
    });
  return cost;
}

std::optional<BudgetLimit> Budget::after_response() const {
  // What the others have used is no reason to lose a response that is paid for.
  if (tokens_ > limits_.tokens)
    return spent(BudgetKind::tokens, limits_.tokens, tokens_, "--max-tokens");
  if (const auto spent_all = cost_spent(own(), {})) return spent_all;
  return time_up();
}

std::optional<BudgetLimit> Budget::calls_spent(const Use& used) const {
  if (used.tool_calls >= limits_.tool_calls) {
    BudgetLimit what = spent(BudgetKind::tool_calls, limits_.tool_calls, used.tool_calls, "");
    what.text = "tool calls " + number(used.tool_calls) + " of " + number(limits_.tool_calls);
    what.next = "a larger budget.tool_calls in the task";
    return what;
  }
  return time_up();
}

std::optional<BudgetLimit> Budget::before_tool_call() {
  if (pool_ == nullptr) return calls_spent(own());
  std::optional<BudgetLimit> out;
  pool_->change(share_, [&](SharedBudget::Share& mine, const Use& others) {
    out = calls_spent(own() + others);
    mine.aside.tool_calls = out ? 0 : 1;
  });
  return out;
}

int Budget::allowed_calls(int wanted) {
  const auto allowed = [&](const Use& used) {
    return static_cast<int>(
        std::clamp<std::int64_t>(limits_.tool_calls - used.tool_calls, 0, wanted));
  };
  if (pool_ == nullptr) return allowed(own());
  int granted = 0;
  pool_->change(share_, [&](SharedBudget::Share& mine, const Use& others) {
    granted = allowed(own() + others);
    mine.aside.tool_calls = granted;
  });
  return granted;
}

std::optional<BudgetLimit> Budget::time_up() const {
  if (clock_.steady() < deadline_) return {};
  return time_spent();
}

BudgetLimit Budget::time_spent() const {
  const std::int64_t limit = limits_.time.count();
  const std::int64_t used = limit - std::min(limit, time_left().count());
  BudgetLimit what{BudgetKind::time, limit, std::max(used, time_used().count()), {}, {}};
  what.text = "time " + time_text(what.used) + " of " + time_text(limit);
  what.next = "--timeout " + number(std::max<std::int64_t>(1, limit / 500)) + "s";
  return what;
}

std::optional<std::string> Budget::take_notice() {
  if (noticed_) return {};
  const Use all = used();
  const std::int64_t time = limits_.time.count();
  const bool due = mostly_used(all.turns, limits_.turns) ||
                   mostly_used(all.tokens, limits_.tokens) ||
                   mostly_used(time - std::min(time, time_left().count()), time);
  if (!due) return {};
  noticed_ = true;
  const std::string cost = knows_a_price() ? ", " + (cost_limit_ - all.cost).text() + " USD" : "";
  return "Budget notice: this run has " +
         number(std::max<std::int64_t>(0, limits_.turns - all.turns)) + " turns, " +
         number(std::max<std::int64_t>(0, limits_.tokens - all.tokens)) + " tokens" + cost +
         " and " + time_text(time_left().count()) +
         " left. Bring the work to a consistent state, then end with your final message.";
}

milliseconds Budget::time_left() const {
  return std::max(std::chrono::ceil<milliseconds>(deadline_ - clock_.steady()), milliseconds(0));
}

milliseconds Budget::time_used() const {
  return std::chrono::duration_cast<milliseconds>(clock_.steady() - started_);
}

Json Budget::left_json() const {
  const Use all = used();
  const auto left_of = [](std::int64_t limit, std::int64_t used) {
    return std::max<std::int64_t>(0, limit - used);
  };
  Json left = Json::object({{"turns", left_of(limits_.turns, all.turns)},
                            {"tool_calls", left_of(limits_.tool_calls, all.tool_calls)},
                            {"tokens", left_of(limits_.tokens, all.tokens)}});
  if (knows_a_price()) left.set("cost_usd", Json::number((cost_limit_ - all.cost).exact()));
  left.set("time_ms", static_cast<std::int64_t>(time_left().count()));
  return left;
}

Json to_json(const TaskBudget& limits) {
  return Json::object({{"turns", limits.turns},
                       {"tool_calls", limits.tool_calls},
                       {"tokens", limits.tokens},
                       {"cost_usd", limits.cost},
                       {"time_ms", static_cast<std::int64_t>(limits.time.count())}});
}

std::optional<BudgetLimit> StageTurns::spent() const {
  if (!limit_ || used_ < *limit_) return {};
  const std::string used = std::to_string(used_);
  return BudgetLimit{.which = BudgetKind::stage_turns,
                     .limit = *limit_,
                     .used = used_,
                     .text = "max_turns of the stage: " + used + " of " + used +
                             " turns, and its work has not ended",
                     .next = "a larger max_turns of the stage '" + stage_ + "' in the task"};
}

std::optional<std::string> StageTurns::take_notice() {
  if (!limit_ || noticed_ || used_ == 0) return {};
  const int left = *limit_ - used_;
  if (left * 5 > *limit_ || left <= 0) return {};
  noticed_ = true;
  return "Budget notice: this stage has " + std::to_string(left) +
         (left == 1 ? " turn" : " turns") + " left. Finish its work and end with your message.";
}

}  // namespace sortie
