#pragma once

#include <chrono>
#include <cstdint>

#include "core/json/json.h"

namespace sortie {

// Counts and times of a record. A record may be forged, or come from a server that counts wrongly:
// what no run can have is kUnknown, and so is a sum with it.

inline constexpr std::int64_t kUnknown = -1;
inline constexpr std::chrono::milliseconds kUnknownTime{kUnknown};

/// The numbers of such a JSON, at every depth: one below 0 or above 10^12 (tokens, or ms: 31 years)
/// becomes kUnknown, and such an amount of "cost_usd" null.
void take_known_numbers(Json& value);

/// The same for a time that was measured by the records' stamps.
std::chrono::milliseconds known_time(std::chrono::milliseconds time) noexcept;

std::int64_t known_sum(std::int64_t a, std::int64_t b) noexcept;
/// What is left of `all` without `part`.
std::int64_t known_rest(std::int64_t all, std::int64_t part) noexcept;
std::chrono::milliseconds known_sum(std::chrono::milliseconds a,
                                    std::chrono::milliseconds b) noexcept;

}  // namespace sortie
