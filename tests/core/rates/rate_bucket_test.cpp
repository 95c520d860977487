#include "core/rates/rate_bucket.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <vector>

using namespace sortie;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

constexpr nanoseconds kBegin = 1h;

struct Sent {
  nanoseconds at;
  std::int64_t tokens;
};

/// Requests that are sent as soon as they may be.
/// @param late  how much later than it may each is sent, at the most
std::vector<Sent> greedy(const RatePace& pace, int count, std::int64_t most_tokens,
                         nanoseconds late = 0ns) {
  std::mt19937 random(7);
  std::uniform_int_distribution<std::int64_t> size(most_tokens / 10, most_tokens);
  std::uniform_int_distribution<std::int64_t> delay(0, late.count());
  RateBucket bucket;
  std::vector<Sent> sent;
  nanoseconds now = kBegin;
  while (static_cast<int>(sent.size()) < count) {
    const std::int64_t tokens = most_tokens == 0 ? 0 : size(random);
    for (FreeTime free = free_at(bucket, pace, tokens, now); free.at > now;
         free = free_at(bucket, pace, tokens, now))
      now = free.at;
    now += nanoseconds(delay(random));
    take(bucket, pace, tokens, now);
    sent.push_back({now, tokens});
  }
  return sent;
}

struct Most {
  std::int64_t requests = 0;
  std::int64_t tokens = 0;
};

/// The most in any window, wherever it begins: as a server counts that remembers each request.
Most most_in_a_window(const std::vector<Sent>& sent, nanoseconds window) {
  Most most;
  std::int64_t tokens = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    tokens += sent[i].tokens;
    while (sent[i].at - sent[first].at >= window) tokens -= sent[first++].tokens;
    most.requests = std::max(most.requests, static_cast<std::int64_t>(i - first + 1));
    most.tokens = std::max(most.tokens, tokens);
  }
  return most;
}

/// The rate of what was sent, as a share of what was allowed.
double share(const std::vector<Sent>& sent, const RatePace& pace) {
  const auto time = static_cast<double>((sent.back().at - sent.front().at).count());
  const double windows = time / static_cast<double>(pace.window.count());
  double tokens = 0;
  for (const Sent& one : sent) tokens += static_cast<double>(one.tokens);
  return std::max(pace.requests == 0 ? 0
                                     : static_cast<double>(sent.size() - 1) / windows /
                                           static_cast<double>(pace.requests),
                  pace.tokens == 0 ? 0 : tokens / windows / static_cast<double>(pace.tokens));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rate_bucket)

BOOST_AUTO_TEST_CASE(no_window_gets_more_requests_than_it_may_have) {
  const RatePace rows[] = {
      {.requests = 60},
      {.requests = 1},
      {.requests = 2},
      {.requests = 3},
      {.requests = 50},
      {.requests = 600},
      {.requests = 10'000},
      {.requests = 60, .window = 3s},
      {.requests = 1, .window = 1s},
      {.requests = 5000, .window = 1h},
  };
  for (const RatePace& pace : rows) {
    for (const nanoseconds late :
         {0ns, nanoseconds(interval_of(pace) / 2), interval_of(pace) * 3}) {
      const auto sent = greedy(pace, 5 * static_cast<int>(pace.requests) + 20, 0, late);

      BOOST_TEST_CONTEXT(pace.requests << " in " << pace.window.count() << " ns, late by up to "
                                       << late.count()) {
        BOOST_TEST(most_in_a_window(sent, pace.window).requests <= pace.requests);
        if (late == 0ns) BOOST_TEST(share(sent, pace) >= 0.965);
      }
    }
  }
}

/// Each request is under way for a time of its own; the server counts when it comes.
BOOST_AUTO_TEST_CASE(differences_of_the_time_under_way_are_allowed_for) {
  const RatePace pace{.requests = 60};
  auto sent = greedy(pace, 500, 0);
  std::mt19937 random(11);
  std::uniform_int_distribution<std::int64_t> way(0, nanoseconds(slack_of(pace) / 2).count());
  for (Sent& one : sent) one.at += nanoseconds(way(random));
  std::sort(sent.begin(), sent.end(), [](const Sent& a, const Sent& b) { return a.at < b.at; });

  BOOST_TEST(most_in_a_window(sent, pace.window).requests <= 60);
}

BOOST_AUTO_TEST_CASE(the_first_requests_are_not_held_up_and_what_was_missed_is_made_up_in_part) {
  const RatePace pace{.requests = 60};
  RateBucket bucket;

  BOOST_TEST((free_at(bucket, pace, 0, kBegin).at == kBegin));
  take(bucket, pace, 0, kBegin);
  // 60 s and 3 % by 60 are 1.03 s, of which 0.9 s may be made up for.
  const FreeTime next = free_at(bucket, pace, 0, kBegin);
  BOOST_TEST((next.at == kBegin + 130ms));
  BOOST_TEST((next.cause == RateCause::requests));
  // However long nothing is sent, no more than that comes at once.
  take(bucket, pace, 0, kBegin + 10min);
  take(bucket, pace, 0, kBegin + 10min + 130ms);
  BOOST_TEST((free_at(bucket, pace, 0, kBegin + 10min + 130ms).at == kBegin + 10min + 1160ms));
}

BOOST_AUTO_TEST_CASE(no_window_gets_more_tokens_than_it_may_have) {
  for (const std::int64_t most : {100, 5'000, 30'000, 60'000, 100'000}) {
    const RatePace pace{.tokens = 100'000};
    const auto sent = greedy(pace, 300, most);

    BOOST_TEST_CONTEXT("requests of up to " << most) {
      BOOST_TEST(most_in_a_window(sent, pace.window).tokens <= pace.tokens);
      if (most <= 5'000) BOOST_TEST(share(sent, pace) >= 0.93);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_request_larger_than_the_limit_goes_alone) {
  const RatePace pace{.tokens = 10'000};
  RateBucket bucket;
  take(bucket, pace, 4'000, kBegin);

  const FreeTime free = free_at(bucket, pace, 50'000, kBegin);

  BOOST_TEST((free.cause == RateCause::tokens));
  BOOST_TEST((free.at > kBegin + pace.window));
  BOOST_TEST((free.at < kBegin + 2 * pace.window));
}

BOOST_AUTO_TEST_CASE(an_estimate_is_corrected_by_what_was_counted) {
  const RatePace pace{.tokens = 60'000};
  const auto free_after = [&pace](std::int64_t more, nanoseconds when) {
    RateBucket bucket;
    take(bucket, pace, 10'000, kBegin);
    if (more != 0) correct(bucket, pace, more, kBegin, kBegin + when);
    return free_at(bucket, pace, 10'000, kBegin + when).at - kBegin;
  };

  // 61.8 s for 60,000 tokens: 10.3 s for 10,000, of which 0.9 s may be made up for.
  BOOST_TEST((free_after(0, 1s) == 9400ms));
  BOOST_TEST((free_after(-5'000, 1s) == 4250ms));
  BOOST_TEST((free_after(10'000, 1s) == 19'700ms));
  // After the time of the estimate is over, the rest counts from now on.
  BOOST_TEST((free_after(10'000, 30s) == 30s + 9400ms));
}

BOOST_AUTO_TEST_CASE(a_pause_holds_up_everything) {
  const RatePace pace{.requests = 600};
  RateBucket bucket;
  bucket.paused_until = kBegin + 20s;

  const FreeTime free = free_at(bucket, pace, 0, kBegin);

  BOOST_TEST((free.at == kBegin + 20s));
  BOOST_TEST((free.cause == RateCause::paused));
}

BOOST_AUTO_TEST_CASE(the_time_of_huge_requests_has_a_bound) {
  const RatePace pace{.tokens = 1, .window = 1h};

  BOOST_TEST((time_of(INT64_C(1'000'000'000'000), pace) == 24h));
}

BOOST_AUTO_TEST_SUITE_END()
