#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/json/json.h"

namespace sortie {

/// More than any response has, and little enough for the sums of a run.
inline constexpr std::int64_t kMostTokens = 1'000'000'000'000;

/// A count of tokens as a provider tells it: never negative, and never so large that a sum of such
/// counts could overflow.
inline std::int64_t token_count(const Json& usage, std::string_view name,
                                std::int64_t fallback = 0) noexcept {
  return std::clamp<std::int64_t>(usage.integer_at(name, fallback), 0, kMostTokens);
}

}  // namespace sortie
