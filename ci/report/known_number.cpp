#include "ci/report/known_number.h"

namespace sortie {
namespace {

/// Sums of all records of a run stay far below 2^63.
constexpr std::int64_t kMost = 1'000'000'000'000;

bool is_known(const Json& number) {
  const auto amount = number.real();
  return amount && *amount >= 0 && *amount <= static_cast<double>(kMost);
}

}  // namespace

void take_known_numbers(Json& value) {
  if (value.is_number()) {
    if (!is_known(value)) value = Json(kUnknown);
    return;
  }
  for (Json& item : value.items()) take_known_numbers(item);
  for (auto& [name, member] : value.members()) {
    if (name == "cost_usd" && member.is_number() && !is_known(member))
      member = Json();
    else
      take_known_numbers(member);
  }
}

std::chrono::milliseconds known_time(std::chrono::milliseconds time) noexcept {
  return time.count() < 0 || time.count() > kMost ? kUnknownTime : time;
}

std::int64_t known_sum(std::int64_t a, std::int64_t b) noexcept {
  return a < 0 || b < 0 ? kUnknown : a + b;
}

std::int64_t known_rest(std::int64_t all, std::int64_t part) noexcept {
  return all < 0 || part < 0 || part > all ? kUnknown : all - part;
}

std::chrono::milliseconds known_sum(std::chrono::milliseconds a,
                                    std::chrono::milliseconds b) noexcept {
  return std::chrono::milliseconds(known_sum(std::int64_t{a.count()}, std::int64_t{b.count()}));
}

}  // namespace sortie
