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

Exhausted spent(const char* which, std::int64_t limit, std::int64_t used, const char* option,
                const std::string& more = {}) {
  Exhausted what{which, limit, used, {}, {}};
  what.text = what.which + " " + number(used) + " of " + number(limit) + more;
  what.next = std::string(option) + " " + number(std::max<std::int64_t>(limit, 1) * 2);
  return what;
}

/// Whether `used` is at least 80 % of `limit`.
bool mostly_used(std::int64_t used, std::int64_t limit) {
  return used >= limit / 5 * 4 + limit % 5;
}

}  // namespace

Budget::Budget(const TaskBudget& limits, const Clock& clock)
    : limits_(limits), clock_(clock), started_(clock.steady()), deadline_(started_ + limits.time) {}

std::optional<Exhausted> Budget::before_request(std::int64_t estimated_input,
                                                std::int64_t max_output) const {
  if (const auto up = time_up()) return up;
  if (turns_ >= limits_.turns) return spent("turns", limits_.turns, turns_, "--max-turns");
  if (tokens_ >= limits_.tokens) return spent("tokens", limits_.tokens, tokens_, "--max-tokens");
  const std::int64_t most = estimated_input + max_output;
  if (most > limits_.tokens - tokens_) {
    Exhausted what = spent("tokens", limits_.tokens, tokens_, "--max-tokens",
                           ", and the next request may take " + number(most));
    what.next = "--max-tokens " + number(std::max(limits_.tokens * 2, tokens_ + most * 2));
    return what;
  }
  return {};
}

void Budget::count_tokens(const Usage& usage) noexcept {
  tokens_ += std::max<std::int64_t>(0, usage.input_tokens - usage.cached_input_tokens) +
             std::max<std::int64_t>(0, usage.output_tokens);
}

std::optional<Exhausted> Budget::after_response() const {
  if (tokens_ > limits_.tokens) return spent("tokens", limits_.tokens, tokens_, "--max-tokens");
  return time_up();
}

std::optional<Exhausted> Budget::before_tool_call() const {
  if (tool_calls_ >= limits_.tool_calls) {
    Exhausted what = spent("tool_calls", limits_.tool_calls, tool_calls_, "");
    what.text = "tool calls " + number(tool_calls_) + " of " + number(limits_.tool_calls);
    what.next = "a larger budget.tool_calls in the task";
    return what;
  }
  return time_up();
}

std::optional<Exhausted> Budget::time_up() const {
  if (clock_.steady() < deadline_) return {};
  return time_spent();
}

Exhausted Budget::time_spent() const {
  const std::int64_t limit = limits_.time.count();
  Exhausted what{"time", limit, time_used().count(), {}, {}};
  what.text = "time " + time_text(what.used) + " of " + time_text(limit);
  what.next = "--timeout " + number(std::max<std::int64_t>(1, limit / 500)) + "s";
  return what;
}

std::optional<std::string> Budget::take_notice() {
  const bool due = mostly_used(turns_, limits_.turns) || mostly_used(tokens_, limits_.tokens) ||
                   mostly_used(time_used().count(), limits_.time.count());
  if (noticed_ || !due) return {};
  noticed_ = true;
  return "Budget notice: of this run's budget are left " + number(limits_.turns - turns_) +
         " turns, " + number(std::max<std::int64_t>(0, limits_.tokens - tokens_)) + " tokens and " +
         time_text(time_left().count()) +
         ". Bring the work to a state that holds, then end with your final message.";
}

milliseconds Budget::time_left() const {
  const auto left = std::chrono::duration_cast<milliseconds>(deadline_ - clock_.steady());
  return std::max(left, milliseconds(0));
}

milliseconds Budget::time_used() const {
  return std::chrono::duration_cast<milliseconds>(clock_.steady() - started_);
}

Json Budget::left_json() const {
  return Json::object({{"turns", limits_.turns - turns_},
                       {"tool_calls", limits_.tool_calls - tool_calls_},
                       {"tokens", std::max<std::int64_t>(0, limits_.tokens - tokens_)},
                       {"time_ms", static_cast<std::int64_t>(time_left().count())}});
}

Json to_json(const TaskBudget& limits) {
  return Json::object({{"turns", limits.turns},
                       {"tool_calls", limits.tool_calls},
                       {"tokens", limits.tokens},
                       {"time_ms", static_cast<std::int64_t>(limits.time.count())}});
}

}  // namespace sortie
