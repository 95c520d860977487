#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace sortie {

/// Why an exchange gave no complete reply, as far as trying again goes.
struct Failure {
  bool transient = true;                                   ///< another try may help
  std::optional<std::chrono::milliseconds> retry_after{};  ///< what the server asked for
};

struct RetryLimits {
  int retries = 5;                       ///< of one request: retries + 1 tries at most
  int retries_left_in_run = 20;          ///< of all requests of a run
  std::chrono::milliseconds first{500};  ///< doubled from try to try
  std::chrono::milliseconds longest{30000};
};

/// How long to wait before the next try, or nothing where there is to be none.
///
/// @param attempt  the try that failed, from 1
/// @param random   in [0, 1), for full jitter: clients that failed together don't return together
std::optional<std::chrono::milliseconds> retry_delay(const Failure& failure, int attempt,
                                                     const RetryLimits& limits, double random);

/// The wait a `Retry-After` header asks for: seconds ("2", "1.5") or an HTTP date; nothing where it
/// is neither (RFC 9110 §10.2.3). A date that has passed is no wait.
std::optional<std::chrono::milliseconds> parse_retry_after(
    std::string_view value, std::chrono::system_clock::time_point now);
/// The wait of a `retry-after-ms` header.
std::optional<std::chrono::milliseconds> parse_retry_after_ms(std::string_view value);
/// The wait named in an error text: "Please try again in 1.5s", "… in 20ms", "… in 1m2.5s".
std::optional<std::chrono::milliseconds> find_retry_after(std::string_view message);

}  // namespace sortie
