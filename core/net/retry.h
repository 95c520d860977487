#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "core/http1/message_head.h"

namespace sortie {

/// Why an exchange gave no complete reply, as far as retries are concerned.
struct Failure {
  bool transient = true;                                   ///< another attempt may help
  std::optional<std::chrono::milliseconds> retry_after{};  ///< what the server asked for
};

struct RetryLimits {
  int retries = 5;                       ///< for one request: retries + 1 attempts at most
  int retries_left_in_run = 20;          ///< for all requests of a run
  std::chrono::milliseconds first{500};  ///< doubled with each attempt
  std::chrono::milliseconds longest{30000};
};

/// How long to wait before the next attempt, or nothing if the request is not to be retried.
///
/// @param attempt  the attempt that failed, from 1
/// @param random   in [0, 1), for full jitter: clients that failed together don't return together
std::optional<std::chrono::milliseconds> retry_delay(const Failure& failure, int attempt,
                                                     const RetryLimits& limits, double random);

/// The wait a `Retry-After` header asks for: seconds ("2", "1.5") or an HTTP date; nothing where it
/// is neither (RFC 9110 §10.2.3). A date in the past means no wait.
std::optional<std::chrono::milliseconds> parse_retry_after(
    std::string_view value, std::chrono::system_clock::time_point now);
/// The wait of a `retry-after-ms` header.
std::optional<std::chrono::milliseconds> parse_retry_after_ms(std::string_view value);
/// The longest time until one of the limits is reset of which nothing remains: `x-ratelimit-remaining-…`
/// and `x-ratelimit-reset-…` as OpenAI's servers have them ("1s", "6m0s"), `anthropic-ratelimit-…-reset`
/// (a time of RFC 3339), `ratelimit-reset` (seconds, or Unix time). Nothing: none is told.
std::optional<std::chrono::milliseconds> rate_limit_reset(
    const HttpHeaders& headers, std::chrono::system_clock::time_point now);
/// The wait named in an error text: "Please try again in 1.5s", "… in 20ms", "… in 1m2.5s".
std::optional<std::chrono::milliseconds> find_retry_after(std::string_view message);

}  // namespace sortie
