#include "core/net/retry.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <ctime>
#include <string>

#include "core/text/text.h"

namespace sortie {

namespace {

using std::chrono::milliseconds;

/// Longer waits are taken as this: nobody means them, and sums with them must not overflow.
constexpr double kLongestWaitMs = 1000.0 * 3600 * 24 * 366;

std::optional<milliseconds> wait_of(double ms) {
  if (!std::isfinite(ms) || ms < 0) return std::nullopt;
  return milliseconds(static_cast<std::int64_t>(std::ceil(std::min(ms, kLongestWaitMs))));
}

std::optional<double> whole_number(std::string_view text) {
  text = without_blanks(text);
  double value = 0;
  const auto end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (text.empty() || result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

/// The three forms of RFC 9110 §5.6.7; all are UTC.
std::optional<std::time_t> http_date(std::string_view text) {
  const std::string copy(without_blanks(text));
  for (const char* form :
       {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"}) {
    std::tm parts{};
    const char* end = ::strptime(copy.c_str(), form, &parts);
    if (end && *end == '\0') return ::timegm(&parts);
  }
  return std::nullopt;
}

std::optional<double> unit_ms(std::string_view unit) {
  if (unit == "ms" || unit.starts_with("millisecond")) return 1.0;
  if (unit == "s" || unit.starts_with("sec")) return 1000.0;
  if (unit == "m" || unit.starts_with("min")) return 60000.0;
  if (unit == "h" || unit.starts_with("hour")) return 3600000.0;
  if (unit == "d" || unit.starts_with("day")) return 86400000.0;
  return std::nullopt;
}

/// "1m2.5s", "20ms", "1 minute"; ends at what is no part of it.
std::optional<milliseconds> time_at(std::string_view text) {
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  double total = 0;
  bool any = false;
  while (at < end) {
    double number = 0;
    const auto result = std::from_chars(at, end, number, std::chars_format::fixed);
    if (result.ec != std::errc()) break;
    at = result.ptr;
    while (at < end && *at == ' ') ++at;
    const char* unit = at;
    while (at < end && std::isalpha(static_cast<unsigned char>(*at))) ++at;
    const auto factor = unit_ms({unit, static_cast<std::size_t>(at - unit)});
    if (!factor) break;
    total += number * *factor;
    any = true;
  }
  return any ? wait_of(total) : std::nullopt;
}

double ms_of(std::chrono::system_clock::time_point time) {
  return static_cast<double>(
      std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count());
}

/// When a limit is reset, as a wait: a time in one of the forms of rate_limit_reset().
std::optional<milliseconds> reset_wait(std::string_view value,
                                       std::chrono::system_clock::time_point now) {
  value = without_blanks(value);
  if (const auto number = whole_number(value)) {
    // Small ones are seconds from now, large ones Unix time, in seconds or milliseconds.
    if (*number < 1e9) return wait_of(*number * 1000);
    return wait_of(std::max(0.0, *number * (*number < 1e11 ? 1000 : 1) - ms_of(now)));
  }
  std::tm parts{};
  const std::string copy(value);
  const char* const rest = ::strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest != nullptr && (*rest == '.' || *rest == 'Z'))
    // A fraction of a second is rounded up.
    return wait_of(std::max(
        0.0, (static_cast<double>(::timegm(&parts)) + (*rest == '.' ? 1 : 0)) * 1000 - ms_of(now)));
  return time_at(ascii_lower(value));
}

}  // namespace

std::optional<milliseconds> retry_delay(const Failure& failure, int attempt,
                                        const RetryLimits& limits, double random) {
  if (!failure.transient || attempt > limits.retries || limits.retries_left_in_run <= 0)
    return std::nullopt;
  milliseconds backoff = limits.first;
  for (int i = 1; i < attempt && backoff < limits.longest; ++i) backoff *= 2;
  backoff = std::min(backoff, limits.longest);
  const auto jittered =
      milliseconds(static_cast<std::int64_t>(static_cast<double>(backoff.count()) * random));
  // A server that names a time has counted its own load: never come back earlier.
  return std::max(jittered, failure.retry_after.value_or(milliseconds(0)));
}

std::optional<milliseconds> parse_retry_after(std::string_view value,
                                              std::chrono::system_clock::time_point now) {
  if (const auto seconds = whole_number(value)) return wait_of(*seconds * 1000);
  const auto date = http_date(value);
  if (!date) return std::nullopt;
  // Not as a time_point: those of the clock end in the year 2262.
  const double at = static_cast<double>(*date) * 1000;
  const auto today = std::chrono::duration_cast<milliseconds>(now.time_since_epoch()).count();
  return wait_of(std::max(0.0, at - static_cast<double>(today)));
}

std::optional<milliseconds> parse_retry_after_ms(std::string_view value) {
  const auto ms = whole_number(value);
  return ms ? wait_of(*ms) : std::nullopt;
}

std::optional<milliseconds> find_retry_after(std::string_view message) {
  const std::string text = ascii_lower(message);
  constexpr std::string_view kMark = "try again in ";
  const std::size_t found = text.find(kMark);
  if (found == std::string::npos) return std::nullopt;
  return time_at(std::string_view(text).substr(found + kMark.size()));
}

std::optional<milliseconds> rate_limit_reset(const HttpHeaders& headers,
                                             std::chrono::system_clock::time_point now) {
  constexpr std::string_view kRemaining = "remaining";
  std::optional<milliseconds> longest;
  for (const auto& [name, value] : headers) {
    std::string other = ascii_lower(name);
    const std::size_t at = other.find(kRemaining);
    const auto remaining = whole_number(value);
    if (at == std::string::npos || other.find("ratelimit") == std::string::npos || !remaining ||
        *remaining > 0)
      continue;
    other.replace(at, kRemaining.size(), "reset");
    const auto wait = reset_wait(header_value(headers, other), now);
    if (wait && (!longest || *wait > *longest)) longest = wait;
  }
  return longest;
}

}  // namespace sortie
