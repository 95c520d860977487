#include "core/net/retry.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

BOOST_AUTO_TEST_SUITE(retry)

BOOST_AUTO_TEST_CASE(delay_by_failure_and_attempt) {
  const struct {
    const char* name;
    Failure failure;
    int attempt;
    int left;
    double random;
    std::optional<milliseconds> delay;
  } rows[] = {
      {"first try", {}, 1, 20, 1.0, 500ms},
      {"jitter takes any part", {}, 1, 20, 0.0, 0ms},
      {"doubles", {}, 3, 20, 1.0, 2000ms},
      {"to 30 s", {}, 20, 20, 1.0, 30000ms},
      {"server's time wins when longer", {.retry_after = 60s}, 1, 20, 1.0, 60s},
      {"server's time loses when shorter", {.retry_after = 1s}, 4, 20, 1.0, 4s},
      {"the tries are used up", {}, 31, 20, 1.0, std::nullopt},
      {"the run's tries are used up", {}, 1, 0, 1.0, std::nullopt},
      {"our request is wrong", {.transient = false}, 1, 20, 1.0, std::nullopt},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RetryLimits limits{.retries = 30, .retries_left_in_run = row.left};
      BOOST_TEST((retry_delay(row.failure, row.attempt, limits, row.random) == row.delay));
    }
  }
}

BOOST_AUTO_TEST_CASE(retry_after_is_read_in_all_its_forms) {
  const auto now = std::chrono::system_clock::from_time_t(784111767);  // 1994-11-06 08:49:27
  const struct {
    const char* text;
    std::optional<milliseconds> wait;
  } rows[] = {
      {"0", 0ms},
      {"2", 2s},
      {" 2 ", 2s},
      {"1.5", 1500ms},
      {"Sun, 06 Nov 1994 08:49:37 GMT", 10s},
      {"Sunday, 06-Nov-94 08:49:37 GMT", 10s},
      {"Sun Nov  6 08:49:37 1994", 10s},
      {"Sun, 06 Nov 1994 08:49:17 GMT", 0ms},
      {"", std::nullopt},
      {"-1", std::nullopt},
      {"soon", std::nullopt},
      {"2x", std::nullopt},
      {"1e99", std::nullopt},
      {"nan", std::nullopt},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text) { BOOST_TEST((parse_retry_after(row.text, now) == row.wait)); }
  }
  BOOST_TEST((parse_retry_after_ms("1500") == 1500ms));
  BOOST_TEST((parse_retry_after_ms("x") == std::nullopt));
  for (const char* far : {"99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"}) {
    BOOST_TEST_CONTEXT(far) {
      BOOST_TEST((parse_retry_after(far, now) > 300 * 24h));
      BOOST_TEST((parse_retry_after(far, now) < 400 * 24h));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_wait_named_in_a_message_is_found) {
  const struct {
    const char* text;
    std::optional<milliseconds> wait;
  } rows[] = {
      {"Rate limit reached. Please try again in 1.5s. Visit …", 1500ms},
      {"Please try again in 20ms.", 20ms},
      {"Try again in 1m2.5s", 62500ms},
      {"try again in 3 seconds", 3s},
      {"try again in 2 hours", 2h},
      {"try again in a while", std::nullopt},
      {"try again later", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text) { BOOST_TEST((find_retry_after(row.text) == row.wait)); }
  }
}

BOOST_AUTO_TEST_CASE(the_reset_of_a_limit_of_which_nothing_remains_is_read_in_each_form) {
  const auto now = std::chrono::system_clock::from_time_t(1'700'000'000);  // 2023-11-14T22:13:20Z
  const struct {
    const char* name;
    HttpHeaders headers;
    std::optional<std::chrono::milliseconds> wait;
  } rows[] = {
      {"OpenAI",
       {{"x-ratelimit-remaining-requests", "0"}, {"x-ratelimit-reset-requests", "6m0s"}},
       std::chrono::minutes(6)},
      {"the longest of several",
       {{"x-ratelimit-remaining-requests", "0"},
        {"x-ratelimit-reset-requests", "120ms"},
        {"X-RateLimit-Remaining-Tokens", "0"},
        {"X-RateLimit-Reset-Tokens", "1.5s"}},
       std::chrono::milliseconds(1500)},
      {"something remains",
       {{"x-ratelimit-remaining-requests", "1"}, {"x-ratelimit-reset-requests", "6m0s"}},
       std::nullopt},
      {"Anthropic",
       {{"anthropic-ratelimit-input-tokens-remaining", "0"},
        {"anthropic-ratelimit-input-tokens-reset", "2023-11-14T22:13:50Z"}},
       std::chrono::seconds(30)},
      {"a time that is over",
       {{"anthropic-ratelimit-requests-remaining", "0"},
        {"anthropic-ratelimit-requests-reset", "2023-11-14T22:13:00Z"}},
       std::chrono::seconds(0)},
      {"seconds",
       {{"ratelimit-remaining", "0"}, {"ratelimit-reset", "17"}},
       std::chrono::seconds(17)},
      {"Unix time",
       {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "1700000009"}},
       std::chrono::seconds(9)},
      {"no reset", {{"x-ratelimit-remaining", "0"}}, std::nullopt},
      {"no time", {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "soon"}}, std::nullopt},
      {"no limit", {{"Retry-After", "0"}}, std::nullopt},
  };
  for (const auto& row : rows)
    BOOST_TEST((rate_limit_reset(row.headers, now) == row.wait), row.name);
}

BOOST_AUTO_TEST_SUITE_END()
