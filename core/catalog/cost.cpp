#include "core/catalog/cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sortie {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kPerUsd = 1'000'000'000'000;
constexpr std::int64_t kPerMicro = 1'000'000;

std::int64_t rounded_up(std::int64_t value, std::int64_t step) noexcept {
  return value / step + (value % step > 0 ? 1 : 0);
}

}  // namespace

Cost Cost::usd(double amount) noexcept {
  const double units = amount * static_cast<double>(kPerUsd);
  if (!(units > 0)) return {};
  if (units >= static_cast<double>(kMost)) return Cost(kMost);
  return Cost(std::llround(units));
}

Cost& Cost::operator+=(Cost other) noexcept {
  if (__builtin_add_overflow(units_, other.units_, &units_)) units_ = kMost;
  return *this;
}

Cost Cost::micros(std::int64_t amount) noexcept { return tokens_at(amount, 1); }

std::int64_t Cost::to_micros() const noexcept { return rounded_up(units_, kPerMicro); }

std::string Cost::exact() const {
  std::string digits = std::to_string(units_);
  if (digits.size() < 13) digits.insert(0, 13 - digits.size(), '0');
  digits.insert(digits.size() - 12, ".");
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.ends_with('.')) digits.pop_back();
  return digits;
}

std::string Cost::text() const {
  int decimals = 2;
  std::int64_t step = kPerUsd / 100;
  // Small amounts are shown with two significant digits.
  while (decimals < 6 && units_ > 0 && units_ < step * 10 && units_ < kPerUsd) {
    ++decimals;
    step /= 10;
  }
  std::string digits = std::to_string(rounded_up(units_, step));
  const auto places = static_cast<std::size_t>(decimals);
  if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
  digits.insert(digits.size() - places, ".");
  while (digits.ends_with('0') && digits.size() - digits.find('.') > 3) digits.pop_back();
  return digits;
}

Cost tokens_at(std::int64_t tokens, double usd_per_million) noexcept {
  // USD per million tokens are millionths of a USD per token.
  const std::int64_t each = std::llround(std::max(0.0, usd_per_million) * 1e6);
  std::int64_t units = 0;
  if (__builtin_mul_overflow(std::max<std::int64_t>(0, tokens), each, &units)) units = kMost;
  return Cost(units);
}

Cost cost_of(const Usage& usage, const ModelPrice& price) noexcept {
  const std::int64_t cached = std::max<std::int64_t>(0, usage.cached_input_tokens);
  const std::int64_t written = std::max<std::int64_t>(0, usage.cache_write_input_tokens);
  // If the parts exceed the whole, the parts count.
  return tokens_at(usage.input_tokens - cached - written, price.input) +
         tokens_at(cached, price.cached_input.value_or(price.input)) +
         tokens_at(written, price.cache_write.value_or(price.input)) +
         tokens_at(usage.output_tokens, price.output);
}

Cost most_for(std::int64_t input_tokens, std::int64_t max_output_tokens,
              const ModelPrice& price) noexcept {
  const double input =
      std::max({price.input, price.cached_input.value_or(0.0), price.cache_write.value_or(0.0)});
  return tokens_at(input_tokens, input) + tokens_at(max_output_tokens, price.output);
}

}  // namespace sortie
