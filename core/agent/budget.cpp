#include "core/agent/budget.h"

#include <algorithm>

namespace sortie {
namespace {

using std::chrono::milliseconds;

std::string number(std::int64_t value) { return std::to_string(value); }

/// "90 s" or "250 ms".
std::string time_text(std::int64_t ms) {
  return ms % 1000 == 0 || ms >= 10'000 ? number(ms / 1000) + " s" : number(ms) + " ms";
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

Cost Budget::cost_left() const noexcept { return cost_limit_ - cost_; }

/// The cost limit, if it does not allow the next request.
std::optional<BudgetLimit> Budget::cost_spent(Cost next_request, std::int64_t least_output) const {
  if (!knows_a_price() || cost_ + next_request <= cost_limit_) return {};
  BudgetLimit what{BudgetKind::cost, cost_limit_.to_micros(), cost_.to_micros(), {}, {}};
  what.text =
      "cost " + cost_.text() + " of " + cost_limit_.text() + " USD at turn " + number(turns_);
  if (next_request > Cost()) what.text += ", and the next request may take " + next_request.text();
  what.next = "--max-cost " + rounded_limit(std::max(Cost::usd(limits_.cost * 1.6),
                                                     cost_ + next_request + next_request));
  if (least_output > 0)
    what.next += ", or a model.max_output_tokens below " + number(least_output) + " in the task";
  return what;
}

std::optional<BudgetLimit> Budget::before_request(std::int64_t estimated_input,
                                                  std::int64_t max_output, int source,
                                                  std::int64_t paid_output) const {
  if (const auto up = time_up()) return up;
  if (turns_ >= limits_.turns)
    return spent(BudgetKind::turns, limits_.turns, turns_, "--max-turns");
  return before_retry(estimated_input, max_output, source, paid_output);
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

std::optional<BudgetLimit> Budget::before_retry(std::int64_t estimated_input,
                                                std::int64_t max_output, int source,
                                                std::int64_t paid_output) const {
  if (const auto up = time_up()) return up;
  if (tokens_ >= limits_.tokens)
    return spent(BudgetKind::tokens, limits_.tokens, tokens_, "--max-tokens");
  const std::int64_t output = paid_output > 0 ? std::min(max_output, paid_output) : max_output;
  const std::int64_t most = estimated_input + output;
  if (most > limits_.tokens - tokens_) {
    BudgetLimit what = spent(BudgetKind::tokens, limits_.tokens, tokens_, "--max-tokens",
                             ", and the next request may take " + number(most));
    what.next = "--max-tokens " + number(std::max(limits_.tokens * 2, tokens_ + most * 2));
    return what;
  }
  // If the input alone costs too much, a lower max_output_tokens would not help.
  const bool output_counts = cost_ + max_next_cost(estimated_input, source, 1) <= cost_limit_;
  return cost_spent(max_next_cost(estimated_input, source, paid_output),
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
  const auto is_paid = [&](std::int64_t output) {
    return estimated_input + output <= limits_.tokens - tokens_ &&
           (!knows_a_price() ||
            cost_ + max_next_cost(estimated_input, source, output) <= cost_limit_);
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
  deadline_ -= used.time;
}

std::optional<Cost> Budget::count_tokens(const Usage& usage, int source) noexcept {
  tokens_ += counted_tokens(usage);
  const auto& price = price_of(source);
  if (!price) return {};
  const Cost cost = cost_of(usage, *price);
  cost_ += cost;
  return cost;
}

std::optional<BudgetLimit> Budget::after_response() const {
  if (tokens_ > limits_.tokens)
    return spent(BudgetKind::tokens, limits_.tokens, tokens_, "--max-tokens");
  if (const auto spent_all = cost_spent({})) return spent_all;
  return time_up();
}

std::optional<BudgetLimit> Budget::before_tool_call() const {
  if (tool_calls_ >= limits_.tool_calls) {
    BudgetLimit what = spent(BudgetKind::tool_calls, limits_.tool_calls, tool_calls_, "");
    what.text = "tool calls " + number(tool_calls_) + " of " + number(limits_.tool_calls);
    what.next = "a larger budget.tool_calls in the task";
    return what;
  }
  return time_up();
}

std::optional<BudgetLimit> Budget::time_up() const {
  if (clock_.steady() < deadline_) return {};
  return time_spent();
}

BudgetLimit Budget::time_spent() const {
  const std::int64_t limit = limits_.time.count();
  BudgetLimit what{BudgetKind::time, limit, time_used().count(), {}, {}};
  what.text = "time " + time_text(what.used) + " of " + time_text(limit);
  what.next = "--timeout " + number(std::max<std::int64_t>(1, limit / 500)) + "s";
  return what;
}

std::optional<std::string> Budget::take_notice() {
  const bool due = mostly_used(turns_, limits_.turns) || mostly_used(tokens_, limits_.tokens) ||
                   mostly_used(time_used().count(), limits_.time.count());
  if (noticed_ || !due) return {};
  noticed_ = true;
  const std::string cost = knows_a_price() ? ", " + cost_left().text() + " USD" : "";
  return "Budget notice: this run has " + number(limits_.turns - turns_) + " turns, " +
         number(std::max<std::int64_t>(0, limits_.tokens - tokens_)) + " tokens" + cost + " and " +
         time_text(time_left().count()) +
         " left. Bring the work to a consistent state, then end with your final message.";
}

milliseconds Budget::time_left() const {
  const auto left = std::chrono::duration_cast<milliseconds>(deadline_ - clock_.steady());
  return std::max(left, milliseconds(0));
}

milliseconds Budget::time_used() const {
  return std::chrono::duration_cast<milliseconds>(clock_.steady() - started_);
}

Json Budget::left_json() const {
  Json left = Json::object({{"turns", limits_.turns - turns_},
                            {"tool_calls", limits_.tool_calls - tool_calls_},
                            {"tokens", std::max<std::int64_t>(0, limits_.tokens - tokens_)}});
  if (knows_a_price()) left.set("cost_usd", Json::number(cost_left().exact()));
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
