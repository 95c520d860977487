#pragma once

#include <chrono>
#include <cstdint>

#include "core/rates/token_window.h"

namespace sortie {

/// How many requests and tokens a server lets through in each window of time.
struct RatePace {
  std::int64_t requests = 0;  ///< 0: any number
  std::int64_t tokens = 0;    ///< 0: any number
  std::chrono::nanoseconds window = std::chrono::minutes(1);
  bool operator==(const RatePace&) const = default;
};

/// What has been taken of a provider's limits. Times are those of BootTime.
///
/// Requests follow the generic cell rate algorithm: each is followed by an interval, a window's length
/// and 3 % divided by the number of requests, in which the next has to wait, and half of the 3 % may be
/// made up for later. So no window, wherever it begins, gets more requests than it may have, and the
/// other half of the 3 % is left for how differently long they are under way. Tokens are paced the same
/// way, and are counted besides (TokenWindow).
///
/// Source: ITU-T I.371 (virtual scheduling), by the bound ceil((window + tolerance) / interval).
struct RateBucket {
  std::chrono::nanoseconds next_request{0};  ///< when the next one is due
  std::chrono::nanoseconds next_tokens{0};   ///< the same by the tokens taken
  std::chrono::nanoseconds paused_until{0};  ///< the provider asked to wait until then
  std::int64_t output_tokens = 1000;         ///< of a usual response
  std::int64_t taken = 0;                    ///< requests, ever
  std::int64_t refused = 0;                  ///< of them, by the provider for its limits
  TokenWindow window{};
  bool operator==(const RateBucket&) const = default;
};

/// A share of a window that is not used: half of it is the tolerance, half is left for differences of
/// the time under way.
std::chrono::nanoseconds slack_of(const RatePace& pace);
/// The time between two requests; 0: any number is allowed.
std::chrono::nanoseconds interval_of(const RatePace& pace);
/// The time in which so many tokens may be taken.
std::chrono::nanoseconds time_of(std::int64_t tokens, const RatePace& pace);

/// Why a request has to wait.
enum class RateCause { none, requests, tokens, paused };

struct FreeTime {
  std::chrono::nanoseconds at{0};
  RateCause cause = RateCause::none;
};

/// When a request may go out, `now` at the earliest.
/// @param tokens  what it may take, by estimate
FreeTime free_at(RateBucket& bucket, const RatePace& pace, std::int64_t tokens,
                 std::chrono::nanoseconds now);
/// Takes it, now.
void take(RateBucket& bucket, const RatePace& pace, std::int64_t tokens,
          std::chrono::nanoseconds now);
/// Corrects an estimate.
/// @param more  tokens that it was too low by; negative: too high
/// @param when  the time of take()
void correct(RateBucket& bucket, const RatePace& pace, std::int64_t more,
             std::chrono::nanoseconds when, std::chrono::nanoseconds now);

}  // namespace sortie
